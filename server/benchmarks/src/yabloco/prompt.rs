//! The prompts of `write_function`.

use cases::{Case, WriteFunction};
use syntax::Language;

/// Returns the prompt for a chat: documentation, signature and the functions that it may call. The original's wording is not public in
/// its rows, so this is ours.
pub fn chat_prompt(case: &Case, question: &WriteFunction, language: Language) -> String {
    let mut prompt = format!(
        "Write the {} function with this signature and documentation. Answer with the whole function in one code block, without \
         other functions, includes and explanations.\n\nDocumentation:\n{}\n\nSignature:\n```\n{}\n```\n",
        language.name(),
        question.documentation,
        question.signature,
    );
    if !case.context.is_empty() {
        prompt.push_str("\nFunctions that it may call:\n");
        for item in &case.context {
            prompt.push_str(&format!("```\n{}\n```\n", item.text.trim_end()));
        }
    }
    prompt
}
