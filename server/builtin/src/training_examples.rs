//! Training examples for the fitted models. Used only by `cargo xtask fit`.

use crate::corpus_view::{CorpusView, intern};
use crate::models::Models;
use crate::predict::{Predictor, ranking};
use crate::proposals::proposals;
use crate::token_stream::{CodePiece, TokenStream};
use crate::{block_continuation, render};

/// A position in the true text with the tokens that may come next.
#[derive(Clone, Debug)]
pub struct TrainingExample {
    /// Candidates, the most likely one by the methods first.
    pub choices: Vec<TrainingCandidate>,
}

/// A candidate for the next token.
#[derive(Clone, Debug)]
pub struct TrainingCandidate {
    /// Features in the order of [`crate::TOKEN_FEATURES`].
    pub features: Vec<f32>,
    /// Whether it is the true token.
    pub is_right: bool,
}

/// A proposal.
#[derive(Clone, Debug)]
pub struct TrainingProposal {
    /// The text to insert at the cursor.
    pub text: String,
    /// Features in the order of [`crate::PROPOSAL_FEATURES`].
    pub features: Vec<f32>,
}

impl CorpusView<'_> {
    /// Returns one example for each of the first `most` tokens of the true text at the cursor. There must be no partial token at
    /// the cursor.
    pub fn training_examples(&mut self, truth: &str, most: usize) -> Vec<TrainingExample> {
        let language = self.language;
        let piece =
            CodePiece { language, text: truth, layout: self.layout, column: Some(self.cursor.column) };
        let mut stream = TokenStream::default();
        let words = &mut self.words;
        stream
            .extend(&piece, &syntax::lex(language, truth), |text, kind| intern(words, language, text, kind));
        let predictor = Predictor::new(self, Models::shipped());
        let example = |place: usize| {
            let choices = predictor.choices(&stream.tokens[..place]);
            let choice = |choice: &ranking::RankedToken| TrainingCandidate {
                features: choice.features.to_vec(),
                is_right: choice.guess.token == stream.tokens[place],
            };
            TrainingExample { choices: choices.iter().map(choice).collect() }
        };
        (0..stream.len().min(most)).map(example).collect()
    }

    /// Returns all proposals made with these models.
    pub fn training_proposals(&self, models: &Models) -> Vec<TrainingProposal> {
        let continuation = block_continuation::continuation(self, models);
        let predictor = &mut Predictor::new(self, models);
        let proposals = proposals(self, predictor, continuation, &mut || true);
        proposals
            .into_iter()
            .map(|proposal| TrainingProposal {
                text: render::render(self, &proposal.written).0,
                features: proposal.features.to_vec(),
            })
            .collect()
    }

    /// Returns the features of the blank line at the cursor, in the order of [`crate::STOP_FEATURES`]; `None` on other lines.
    pub fn stop_features(&self) -> Option<Vec<f32>> {
        Some(block_continuation::features(self)?.to_vec())
    }
}
