//! Words the remarks of a summary.

use cases::{AnswerForm, PromptSymptom};
use scoring::run_summary::{PromptProblem, RunNote};
use scoring::{MetricCell, RunSummary};

use crate::{failures, format};

/// Explains why `cross_file` has more rows than holes.
const CONTROLS: &str = "cross_file tests each hole without context (in_file), with the context that retrieval finds (retrieval), and \
    with the context that it finds if it sees the truth (oracle).";

/// Explains the mark of `in_file` rows.
const JUDGES: &str = "Selected against (*): cases that this engine solves from the file alone were left out of cross_file. Its in_file \
    rows are therefore no rank, and its gain by context is measured on cases that it had failed.";

/// Returns the remarks of a summary, one text each.
pub fn note_texts(summary: &RunSummary) -> Vec<String> {
    summary.notes.iter().map(text).collect()
}

fn text(note: &RunNote) -> String {
    match note {
        RunNote::Unfinished { answered, planned } => {
            format!("The run is unfinished: {answered} of {planned} requests.")
        }
        RunNote::OtherTree => "The workspace has other code than the cases were cut from, or they do not say which (other tree hash): \
                            engines may have seen newer code."
            .to_owned(),
        RunNote::NoWorkspace => {
            "Replayed without a workspace: engines had only the code in the cases.".to_owned()
        }
        RunNote::NewerCases(count) => format!("Cases recorded since then, not in these numbers: {count}."),
        RunNote::UnknownCases(count) => {
            format!("{count} answers belong to no case of the suite and are left out")
        }
        RunNote::Unscored(count) => {
            format!("{count} answers have no scores; only their status and time are counted")
        }
        RunNote::Recorded { timed, untimed } => recorded(*timed, *untimed),
        RunNote::Unweighted(count) => format!(
            "{count} live cases were left without a suggestion by chance; they are not weighted here"
        ),
        RunNote::Controls => CONTROLS.to_owned(),
        RunNote::Judges => JUDGES.to_owned(),
        RunNote::Late { engine, late, answers, exact, in_time } => {
            let share = |cell: &Option<MetricCell>| cell.as_ref().map_or_else(String::new, format::share);
            format!(
                "{engine}: {} of {} were cut at the deadline and count as timeouts. Exact match: {} with the text written by then, {} \
                 in time.",
                format::one_decimal(*late),
                format::count_of(*answers, "answer"),
                share(exact),
                share(in_time),
            )
        }
        RunNote::Copies { affected, cases, reused } => format!(
            "The truths of {affected} of {cases} cases have copies in other files. In the rows \"no-copies\", engines answered those \
             cases without these files; their answers to all other cases are reused{}.",
            match reused {
                0 => String::new(),
                reused => format!(
                    ", and so {} to cases whose request is the same without the files",
                    if *reused == 1 { "is 1 answer".to_owned() } else { format!("are {reused} answers") }
                ),
            }
        ),
        RunNote::AnswerForms { engine, forms } => answer_forms(engine, forms),
        RunNote::Failures { engine, failures } => failures::warning(engine, failures),
        RunNote::WrongPrompt(problem) => prompt_problem(problem),
    }
}

/// Says how an engine got tasks without a cursor.
fn answer_forms(engine: &str, forms: &[(AnswerForm, usize)]) -> String {
    let form = |&(form, answers): &(AnswerForm, usize)| {
        let name = match form {
            AnswerForm::Chat => "as the original's prompt in a chat",
            AnswerForm::FillIn => "as code to continue, with the description as comments",
            AnswerForm::Retrieval => "without a prompt, as a search for the description's words",
        };
        format!("{name} ({answers})")
    };
    let forms: Vec<String> = forms.iter().map(form).collect();
    format!("{engine}: got the tasks without a cursor {}.", forms.join(", "))
}

/// Names the settings that an engine with a wrong prompt needs.
fn prompt_problem(problem: &PromptProblem) -> String {
    let PromptProblem { engine, kind, symptoms, answers } = problem;
    let name = |symptom: PromptSymptom| match symptom {
        PromptSymptom::Tokens => "hold special tokens as text",
        PromptSymptom::Prose => "are prose",
        PromptSymptom::Fence => "have code fences",
        PromptSymptom::Echo => "repeat the text before the hole",
    };
    let found: Vec<String> =
        symptoms.iter().map(|&(symptom, count)| format!("{count} {}", name(symptom))).collect();
    let talks = symptoms.iter().any(|(it, _)| matches!(it, PromptSymptom::Prose | PromptSymptom::Fence));
    let is_chat = matches!(kind.as_str(), "openai-chat" | "anthropic");
    let remedy = match (talks, is_chat) {
        (true, false) => {
            "This is a chat model: write `kind = \"openai-chat\"` and no `fim`, or use a base model."
        }
        (true, true) => "The model does not follow the instructions: use another model.",
        (false, _) => "The template is wrong: write `fim = \"FAMILY\"` with the family of the model.",
    };
    format!(
        "{engine}: of {}, {}. {remedy} `ghostbench engines check` tests which form the model needs.",
        format::count_of(*answers, "answer"),
        found.join(", "),
    )
}

/// Explains the times of answers from a cassette.
fn recorded(timed: usize, untimed: usize) -> String {
    let of_recording = "their times are those of the recording";
    let unknown = "times are unknown and not counted";
    match (timed, untimed) {
        (timed, 0) => format!("{timed} answers come from a cassette; {of_recording}"),
        (0, untimed) => format!("{untimed} answers come from a cassette; their {unknown}"),
        (timed, untimed) => format!(
            "{} answers come from a cassette; {of_recording}, except {untimed} whose {unknown}",
            timed + untimed
        ),
    }
}
