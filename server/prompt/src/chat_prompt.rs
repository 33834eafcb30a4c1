//! The prompt for chat models: the file with its hole marked, instructions, and marks for the answer.
//!
//! The marks are words in angle brackets that no language has. Fences would not work: code contains them, and a fence begins and
//! ends lines, while most holes are parts of a line.

use crate::model_families::{ModelFamily, RepositoryLayout};

/// Mark of the hole in the file.
pub(crate) const HOLE_MARK: &str = "<HOLE/>";
/// Mark before the answer.
pub(crate) const ANSWER_OPEN: &str = "<FILL>";
/// Mark behind the answer.
pub(crate) const ANSWER_CLOSE: &str = "</FILL>";

/// System message. The two examples show details that instructions alone do not convey: that part of a line is a valid answer, and
/// when an answer begins with a line break.
const SYSTEM: &str = "\
You fill holes in source code. You are shown a file in which <HOLE/> marks the one place where text is missing, and perhaps code from \
other files of the same project. Answer with the missing text between <FILL> and </FILL> and with nothing else: no explanation, no \
Markdown.

The file with your text in the place of <HOLE/> must read as its author would have written it: the same style and indentation, names \
that exist, no text twice. Your text begins exactly where the mark stands, in the middle of a line if the mark does, and must not \
repeat what stands before or after it. Complete what was begun there, a line, a statement or a block, and stop. If nothing is missing, \
answer <FILL></FILL>.

Example 1. The file:
def area(width, height):
    return <HOLE/>

print(area(2, 3))
The answer:
<FILL>width * height</FILL>

Example 2. The file:
def mean(values):<HOLE/>

print(mean([1, 2, 3]))
The answer:
<FILL>
    return sum(values) / len(values)</FILL>";

const FILE_LAYOUT: &str = "\
<FILE path=\"{path}\" language=\"{language}\">
{prefix}<HOLE/>{suffix}
</FILE>

What belongs in the place of <HOLE/>? Answer with <FILL>, the text, </FILL>.";

const REPOSITORY_LAYOUT: &str = "\
{context}<FILE path=\"{path}\" language=\"{language}\">
{prefix}<HOLE/>{suffix}
</FILE>

What belongs in the place of <HOLE/>? Answer with <FILL>, the text, </FILL>.";

/// The row for chat prompts. It is not in the table because no model name selects it.
pub(crate) static FAMILY: ModelFamily = ModelFamily {
    name: "hole",
    aliases: &[],
    models: &[],
    file_layout: FILE_LAYOUT,
    repository_layout: Some(RepositoryLayout {
        item: Some("<OTHER path=\"{path}\">\n{text}\n</OTHER>\n\n"),
        layout: REPOSITORY_LAYOUT,
    }),
    tokens: &[HOLE_MARK, ANSWER_OPEN, ANSWER_CLOSE, "<FILE", "</FILE>", "<OTHER", "</OTHER>"],
    stop: &[ANSWER_CLOSE],
    // For chat models, the mark shows where the file ends.
    empty_suffix: "",
    trailing_noise: &[],
    system: Some(SYSTEM),
};
