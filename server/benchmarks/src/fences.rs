//! Fenced code blocks by Markdown's rules: backticks or tildes, any info string, indented fences, and an unclosed last block.

/// Returns the content of each fenced block of `text`, with its line ends.
pub(crate) fn fenced_blocks(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut open: Option<(Fence, usize)> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        match open {
            None => open = Fence::opening(line).map(|fence| (fence, end)),
            Some((fence, content)) if fence.is_closed_by(line) => {
                blocks.push(&text[content..start]);
                open = None;
            }
            Some(_) => {}
        }
        start = end;
    }
    blocks.extend(open.map(|(_, content)| &text[content..]));
    blocks
}

/// The line that opens a block.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    fn opening(line: &str) -> Option<Fence> {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        // Backticks on the same line are code within a sentence.
        let is_fence = length >= 3 && (mark == '~' || !info.contains('`'));
        is_fence.then_some(Fence { mark, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_of_all_shapes_are_found() {
        assert_eq!(fenced_blocks("a\n```c++ title\nb\n```\n~~~\nc\n```\n~~~~\n"), ["b\n", "c\n```\n"]);
        assert_eq!(fenced_blocks("  ````\n```\n  ````"), ["```\n"]);
        assert_eq!(fenced_blocks("```py\nx"), ["x"]);
        assert_eq!(fenced_blocks("```"), [""]);
    }

    #[test]
    fn code_in_a_sentence_is_no_block() {
        assert_eq!(fenced_blocks("```x = 1```"), [""; 0]);
        assert_eq!(fenced_blocks("`` a\n"), [""; 0]);
    }
}
