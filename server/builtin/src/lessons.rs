//! What the fitted models see, for fitting them: `cargo xtask fit` asks here and nobody else.

use crate::models::Models;
use crate::predict::{Predictor, ranking};
use crate::proposals::{Proposal, proposals};
use crate::stream::{Piece, Stream};
use crate::view::{View, intern};
use crate::{render, stop};

/// A place in a truth, with what might have come next.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// The tokens that may come next, the one that was likeliest before first.
    pub choices: Vec<Choice>,
}

/// A token that may come next.
#[derive(Clone, Debug)]
pub struct Choice {
    /// In the order of [`crate::TOKEN_FEATURES`].
    pub features: Vec<f32>,
    /// Whether it is what stands there.
    pub is_right: bool,
}

/// Something that could be shown.
#[derive(Clone, Debug)]
pub struct Proposed {
    /// The text to insert at the cursor.
    pub text: String,
    /// In the order of [`crate::PROPOSAL_FEATURES`].
    pub features: Vec<f32>,
}

impl View<'_> {
    /// One lesson for each of the first `most` tokens of the truth at the cursor, before which nothing of a token may be typed.
    pub fn lessons(&mut self, truth: &str, most: usize) -> Vec<Lesson> {
        let language = self.language;
        let piece = Piece { language, text: truth, layout: self.layout, column: Some(self.cursor.column) };
        let mut stream = Stream::default();
        let words = &mut self.words;
        stream
            .extend(&piece, &syntax::lex(language, truth), |text, kind| intern(words, language, text, kind));
        let predictor = Predictor::new(self, Models::shipped());
        let lesson = |place: usize| {
            let choices = predictor.choices(&stream.tokens[..place]);
            let choice = |choice: &ranking::Choice| Choice {
                features: choice.features.to_vec(),
                is_right: choice.guess.token == stream.tokens[place],
            };
            Lesson { choices: choices.iter().map(choice).collect() }
        };
        (0..stream.len().min(most)).map(lesson).collect()
    }

    /// All that could be shown by these models.
    pub fn proposed(&self, models: &Models) -> Vec<Proposed> {
        let continuation = stop::continuation(self, models);
        let predictor = &mut Predictor::new(self, models);
        let proposals = proposals(self, predictor, continuation, &mut || true);
        let proposed = |proposal: Proposal| Proposed {
            text: render::text(self, &proposal.written).0,
            features: proposal.features.to_vec(),
        };
        proposals.into_iter().map(proposed).collect()
    }

    /// What is known of the blank line at the cursor, in the order of [`crate::STOP_FEATURES`]; `None` on other lines.
    pub fn stop_features(&self) -> Option<Vec<f32>> {
        Some(stop::features(self)?.to_vec())
    }
}
