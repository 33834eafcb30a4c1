//! Signs of a wrong prompt in an answer. The detector is that of `ghostbench engines check`; this module decides which text it reads, and
//! leaves out signs that the truth of the case has as well.

use cases::{Case, PromptSymptom};
use completion::Trace;
use engines::{EngineKind, Symptom, symptoms_of};

/// Returns the signs in an answer of an engine of this kind, each once.
pub(crate) fn prompt_symptoms(case: &Case, kind: EngineKind, trace: &Trace) -> Vec<PromptSymptom> {
    if !kind.is_external() {
        return Vec::new();
    }
    let is_chat = matches!(kind, EngineKind::OpenAiChat | EngineKind::Anthropic);
    // In a chat, marks around the answer are part of the form.
    let written = if is_chat || trace.model_text.is_empty() { &trace.received } else { &trace.model_text };
    let symptoms = |text: &str| symptoms_of(&case.prefix, &case.suffix, text);
    let (in_text, in_written, in_truth) =
        (symptoms(&trace.received), symptoms(written), symptoms(&case.truth));
    let is_found = |sign: &PromptSymptom| {
        let (symptom, found) = match sign {
            // The parser has removed the tokens of the engine's own template and a repeated prompt.
            PromptSymptom::Tokens => (Symptom::Tokens, &in_text),
            PromptSymptom::Echo => (Symptom::PrefixAgain, &in_text),
            PromptSymptom::Prose => (Symptom::Prose, &in_written),
            PromptSymptom::Fence => (Symptom::Fence, &in_written),
        };
        found.contains(&symptom) && !in_truth.contains(&symptom)
    };
    PromptSymptom::ALL.iter().copied().filter(is_found).collect()
}
