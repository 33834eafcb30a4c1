//! Arms of a trial that would choose the same context share it: counted in the log of the server, and seen in what the engines receive.

use cases::{TrialArm, TrialDefinition, TrialMode};
use mock::{MockServer, Reply};
use serde_json::json;
use tests::{Project, wait_until};

use super::editor::{Editor, find, items, setup};
use super::file_watching::log;
use super::trial::{SHOP, definition, folder, rows};
use crate::settings::user_file;

const ARMS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

fn answering_server() -> MockServer {
    let event =
        |piece: &str, is_last: bool| format!("data: {}\n\n", json!({"content": piece, "stop": is_last}));
    let stream = [event("return price * rate", false), event("", true)].concat();
    MockServer::scripted(move |_| Reply::stream("text/event-stream").chunk(stream.as_bytes()).end())
}

/// Returns the last count of retrievals in the log.
fn retrievals(log: &str) -> u64 {
    let mut counts = log.lines().filter(|line| line.contains("counted work"));
    let last = counts.next_back().expect("the work is logged");
    let count = last.split_once("retrievals=").expect("the retrievals are logged").1;
    count.split_whitespace().next().and_then(|count| count.parse().ok()).expect("they are a number")
}

#[test]
fn arms_with_the_same_context_search_once() {
    let project = Project::new("");
    project.write("other.py", "def cost_of_all(price, rate):\n    total = price * rate\n    return total\n");
    let servers = ARMS.map(|_| answering_server());
    let engines = ARMS.iter().zip(&servers).map(|(name, server)| {
        format!(
            "[[engine]]\nname = \"{name}\"\nkind = \"llama-cpp\"\nurl = \"{}\"\nfim = \"server\"\ncontext_window = 8192\n",
            server.url()
        )
    });
    user_file(&project, &engines.collect::<String>());
    let definition = TrialDefinition {
        mode: TrialMode::Shadow,
        arms: ARMS.map(|name| TrialArm::new(name.to_owned())).to_vec(),
        ..definition()
    };
    trial::definition::write_definition(&folder(&project), &definition).expect("the definition is written");
    let editor = Editor::start(&project, &["--log-level", "debug"], setup(&project));
    wait_until("the trial runs", || editor.status()["trial"]["name"] == "first");
    wait_until("the files are indexed", || editor.status()["folders"][0]["files"] == 1);
    for path in ["shop.py", "till.py"] {
        let buffer = editor.open(path, SHOP);
        let asked = editor.ask(&buffer, find(SHOP, "    \n") + 4);
        assert_eq!(items(&editor.client.wait(asked).expect("it is answered")).len(), 1);
        wait_until("all arms have answered, and the context is recorded", || {
            let row = rows(&project).into_iter().find(|row| row.cursor.path == path);
            row.is_some_and(|row| row.answers.len() == ARMS.len() && !row.similar_functions.is_empty())
        });
    }
    let log = log(&editor);
    editor.client.exit();
    for server in &servers {
        let log = server.log();
        let sent: Vec<&[u8]> = log.received.iter().map(|request| &*request.body).collect();
        let expected = servers[0].log();
        let expected: Vec<&[u8]> = expected.received.iter().map(|request| &*request.body).collect();
        let is_in = |body: &[u8]| String::from_utf8_lossy(body).contains("cost_of_all");
        assert_eq!(sent, expected);
        assert!(sent.iter().any(|body| is_in(body)), "the arm receives code of another file");
    }
    let count = retrievals(&std::fs::read_to_string(log).expect("there is a log"));
    // For each question one for the arms and two for the record.
    assert!((4..=6).contains(&count), "{count} retrievals");
}
