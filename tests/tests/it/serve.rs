//! The front door, driven by requests as plugins send them.

mod clients;
mod own_answers;
mod pass_through;
mod plugins;
mod recording;
mod refusals;

use cases::{TrialArm, TrialDefinition, TrialMode};
use serde_json::{Value, json};
use tests::Project;
use trial::definition::write_definition;

use crate::lsp::trial::folder;

/// A function without a body, and others that tell the file from others.
const SHOP: &str = "import math


def cost(price, rate):
    


def other(price):
    return math.floor(price)
";

/// What the engine behind the front door suggests.
const SUGGESTION: &str = "total = price * rate";

/// The text of the file before and after the cursor in the empty body.
fn around() -> (&'static str, &'static str) {
    let at = SHOP.find("    \n").expect("there is a body") + 4;
    SHOP.split_at(at)
}

/// A project with the file `shop.py`.
fn project() -> Project {
    let project = Project::new("");
    project.write("shop.py", SHOP);
    project.write("other.py", "def unrelated(value):\n    return value\n");
    project
}

/// An engine of the user's settings.
fn engine(name: &str, kind: &str, url: &str) -> String {
    // The server of llama.cpp knows the prompts of its model.
    let further = if kind == "llama-cpp" { "fim = \"server\"\ncontext_window = 8192\n" } else { "" };
    format!("[[engine]]\nname = \"{name}\"\nkind = \"{kind}\"\nurl = \"{url}\"\nmodel = \"m\"\n{further}")
}

fn start_trial(project: &Project, mode: TrialMode, arms: &[&str]) {
    let arms = arms.iter().map(|arm| TrialArm::new((*arm).to_owned())).collect();
    let definition = TrialDefinition::new("first".to_owned(), mode, arms, "2026-01-01T00:00:00Z".to_owned());
    write_definition(&folder(project), &definition).expect("the definition is written");
}

/// A request to `/infill` as llama.vim sends it.
pub(crate) fn infill(prefix: &str, suffix: &str) -> Value {
    let (above, head) = prefix.rsplit_once('\n').map_or(("", prefix), |(above, head)| (above, head));
    let above = if above.is_empty() { String::new() } else { format!("{above}\n") };
    json!({"input_prefix": above, "prompt": head, "input_suffix": suffix, "input_extra": [], "n_predict": 128})
}
