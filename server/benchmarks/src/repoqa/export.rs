//! Rows of output files from cases.

use cases::{Case, ContextComments};

use super::prompt::INSTRUCTION;
use crate::json_text::JsonText;
use crate::ordered_map::OrderedMap;

/// Order of the parts of a prompt, as in the original's rows.
const TEMPLATE: &str = "instruction\ncode_context\ndescription\ninstruction";

/// Returns the row of a case for an output file, with the answers if there are any; `None` for other tasks.
pub fn repoqa_row(case: &Case, answers: Option<&[&str]>) -> Option<OrderedMap<JsonText>> {
    let question = case.find_function()?;
    let context = [case.prefix.as_str(), &case.truth, &case.suffix].concat();
    let function_end = question.tokens_before + question.tokens_of_function;
    let mut fields = vec![
        ("repo", JsonText::of(&case.origin.repository)),
        ("name", JsonText::of(&question.name)),
        ("language", JsonText::of(&case.language)),
        ("path", JsonText::of(&case.path)),
        ("position_ratio", JsonText::of(&question.depth)),
        ("description", JsonText::of(&format!("\nFunction Description:{}\n", question.description))),
        ("instruction", JsonText::of(&INSTRUCTION)),
        ("template", JsonText::of(&TEMPLATE)),
        ("code_context", JsonText::of(&context)),
        ("needle_token_start", JsonText::of(&question.tokens_before)),
        ("needle_token_end", JsonText::of(&function_end)),
        ("code_context_ntokens", JsonText::of(&question.tokens())),
    ];
    fields.extend(answers.map(|answers| ("output", JsonText::of(&answers))));
    let fields: Option<Vec<_>> =
        fields.into_iter().map(|(name, value)| Some((name.to_owned(), value?))).collect();
    fields.map(OrderedMap)
}

/// Returns the part of a file's name for the contexts of a case: a file has one size and one treatment of comments.
pub fn repoqa_file(case: &Case) -> Option<String> {
    let question = case.find_function()?;
    let comments = match question.comments {
        ContextComments::Kept => "",
        ContextComments::Padded => "-padded",
        ContextComments::Removed => "-removed",
    };
    Some(format!("{}{comments}", question.size))
}
