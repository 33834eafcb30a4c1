//! The engines of the simulation: programs that answer with the text of a file (`docs/command-engine.md`).

use std::fs;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The answers of an engine.
#[derive(Clone, Debug)]
pub struct EngineScript {
    /// File with the text of the next answer.
    pub file: PathBuf,
    /// Time until the answer.
    pub delay: Duration,
}

/// Answers the requests of the input until it ends.
///
/// # Errors
/// The input cannot be read, or the output cannot be written.
pub fn answer_requests(script: &EngineScript, input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    for line in input.lines() {
        let request: Value = serde_json::from_str(&line?)?;
        // Other lines cancel requests, which end here by themselves.
        let Some(id) = request.get("id") else { continue };
        thread::sleep(script.delay);
        let text = fs::read_to_string(&script.file).unwrap_or_default();
        writeln!(output, "{}", json!({"id": id, "text": text, "done": true}))?;
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn each_request_is_answered_with_the_text_of_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("answer");
        fs::write(&file, "total()").expect("written");
        let script = EngineScript { file, delay: Duration::ZERO };
        let input = "{\"id\":1,\"prefix\":\"\"}\n{\"cancel\":1}\n{\"id\":2}\n";
        let mut output = Vec::new();
        answer_requests(&script, input.as_bytes(), &mut output).expect("it is answered");
        expect![[r#"
            {"done":true,"id":1,"text":"total()"}
            {"done":true,"id":2,"text":"total()"}
        "#]]
        .assert_eq(&String::from_utf8(output).expect("text"));
    }
}
