//! Records the messages between an editor and the server: a script replaces the server, starts it, and copies both directions
//! into files of their own for each start. A server that is killed leaves half a message, after which no other could be read.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Project;
use crate::lsp::frames;

/// Files of a start: the messages of one side.
const EDITOR: &str = "from-editor";
const SERVER: &str = "from-server";

/// The recorded messages of one server, or of several in sequence.
pub(super) struct MessageLog {
    server: PathBuf,
    /// A folder for each start, named by its number from 0.
    starts: PathBuf,
}

impl MessageLog {
    /// Writes the script that starts `binary`.
    pub(super) fn new(project: &Project, binary: &Path) -> MessageLog {
        let [server, starts] = ["server", "messages"].map(|name| project.sibling_path(name));
        fs::create_dir_all(&starts).expect("the temporary folder is ours");
        let (folder, program) = (starts.display(), binary.display());
        // Several windows may start servers at the same time: only one of them can make a folder. After a test there is none.
        //
        // The script ends with the server. In a pipeline, the first `tee` would not notice that the server has ended until the editor
        // sends another message, and the editor would not notice either.
        let script = format!(
            "#!/bin/sh
n=0
until mkdir '{folder}'/$n 2>/dev/null; do
    [ -d '{folder}' ] || exit 1
    n=$((n + 1))
done
cd '{folder}'/$n || exit 1
mkfifo to-server to-editor
exec 3<&0
tee {EDITOR} <&3 >to-server &
sent=$!
tee {SERVER} <to-editor 3<&- &
returned=$!
(cd \"$OLDPWD\" && exec '{program}' \"$@\") <to-server >to-editor 3<&-
code=$?
kill $sent 2>/dev/null
wait $returned
exit $code
"
        );
        fs::write(&server, script).expect("the temporary folder is ours");
        let is_runnable = Command::new("chmod").arg("+x").arg(&server).status();
        assert!(is_runnable.is_ok_and(|status| status.success()), "a script of ours can be made to run");
        MessageLog { server, starts }
    }

    /// Returns the script.
    pub(super) fn server(&self) -> &Path {
        &self.server
    }

    pub(super) fn sent_by_editor(&self) -> Vec<Value> {
        self.sent_by(EDITOR)
    }

    pub(super) fn sent_by_server(&self) -> Vec<Value> {
        self.sent_by(SERVER)
    }

    fn sent_by(&self, sender: &str) -> Vec<Value> {
        let starts = (0..).map(|number: usize| self.starts.join(number.to_string()));
        starts.take_while(|start| start.is_dir()).flat_map(|start| messages(&start.join(sender))).collect()
    }
}

/// The complete messages in a file: the last one may be partial.
fn messages(path: &Path) -> Vec<Value> {
    let Ok(file) = File::open(path) else { return Vec::new() };
    let mut reader = BufReader::new(file);
    std::iter::from_fn(|| frames::read(&mut reader).ok().flatten()).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use serde_json::json;

    use super::*;

    #[test]
    fn half_a_message_of_a_killed_server_hides_no_message_of_the_next_one() {
        let project = Project::new("");
        let log = MessageLog::new(&project, Path::new("/bin/cat"));
        for sent in ["Content-Length: 10\r\n\r\n{\"a\"", "Content-Length: 7\r\n\r\n{\"b\":2}"] {
            let input = project.sibling_path("input");
            fs::write(&input, sent).expect("the temporary folder is ours");
            let input = File::open(&input).expect("it is there");
            let ended = Command::new(log.server()).stdin(input).stdout(Stdio::null()).status();
            assert!(ended.expect("there is a shell").success());
        }
        assert_eq!([log.sent_by_editor(), log.sent_by_server()], [[json!({"b": 2})], [json!({"b": 2})]]);
    }
}
