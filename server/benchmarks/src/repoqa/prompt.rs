//! The prompts of `find_function`.

use cases::{Case, FindFunction};
use syntax::Language;

/// The original's instruction.
pub const INSTRUCTION: &str = "Based on the function description and code context, please retrieve and repeat the exact described function from the code context in a code block wrapped by ```:";

/// Returns the original's prompt, for a chat.
pub fn chat_prompt(case: &Case, question: &FindFunction) -> String {
    let Case { prefix, truth, suffix, .. } = case;
    format!("{INSTRUCTION}{prefix}{truth}{suffix}{}{INSTRUCTION}", description(question))
}

/// Returns the same as text to continue, for engines that only complete: description and instruction are comments after the context,
/// and the answer's code block is open.
pub fn code_prompt(case: &Case, question: &FindFunction, language: Language) -> String {
    let Case { prefix, truth, suffix, .. } = case;
    let comment = language.line_comment();
    let request = format!("{}{INSTRUCTION}", description(question));
    let request: String = request.trim().lines().map(|line| format!("{comment} {line}\n")).collect();
    format!("{prefix}{truth}{suffix}\n{request}```\n")
}

fn description(question: &FindFunction) -> String {
    format!("\nFunction Description:{}\n", question.description)
}
