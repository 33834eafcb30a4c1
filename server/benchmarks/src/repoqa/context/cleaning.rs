//! Removal of the comments from a context.

use super::{ContextParts, ContextRequest, FindContext, path_comment};
use crate::ScoringRules;
use crate::repoqa::comments::comment_ranges;

/// Treatment of comments in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommentCleaning {
    /// Comments stay.
    Keep,
    /// Comments are removed, and numbered comment lines at both ends keep the function at its position.
    PadPosition,
    /// Comments are removed.
    Remove,
}

/// Returns the context of the parts after cleaning.
pub(super) fn clean(
    request: &ContextRequest<'_>,
    parts: ContextParts,
    count: &dyn Fn(&str) -> usize,
    rules: ScoringRules,
) -> FindContext {
    let cleaned = match request.cleaning {
        CommentCleaning::Keep => parts,
        CommentCleaning::Remove => without_comments(request, &parts, rules),
        CommentCleaning::PadPosition => {
            let cleaned = without_comments(request, &parts, rules);
            pad(request, &parts, cleaned, count)
        }
    };
    FindContext {
        prefix_tokens: count(&cleaned.prefix),
        needle_tokens: count(&cleaned.needle),
        suffix_tokens: count(&cleaned.suffix),
        needle_bytes: cleaned.prefix.len()..cleaned.prefix.len() + cleaned.needle.len(),
        text: [cleaned.prefix, cleaned.needle, cleaned.suffix].concat(),
    }
}

fn without_comments(request: &ContextRequest<'_>, parts: &ContextParts, rules: ScoringRules) -> ContextParts {
    let cleaner = Cleaner { request, first_file: parts.first_file, last_file: parts.last_file };
    let is_original = rules == ScoringRules::Faithful;
    let prefix = match is_original && parts.first_file < request.file {
        true => cleaner.original_prefix(&parts.prefix),
        false => cleaner.segment(&parts.prefix),
    };
    let suffix = match is_original && parts.last_file > request.file {
        true => cleaner.original_suffix(&parts.prefix),
        false => cleaner.segment(&parts.suffix),
    };
    ContextParts { prefix, needle: cleaner.segment(&parts.needle), suffix, ..*parts }
}

/// Removes the comments of a context's parts.
struct Cleaner<'a> {
    request: &'a ContextRequest<'a>,
    first_file: usize,
    last_file: usize,
}

impl Cleaner<'_> {
    /// Returns `text` without comments, but with the paths of files.
    fn segment(&self, text: &str) -> String {
        self.replace_comments(text, |_| String::new())
    }

    fn replace_comments(&self, text: &str, replacement: impl Fn(&str) -> String) -> String {
        let tree = syntax::parse(self.request.language, text);
        let paths: Vec<String> = (self.first_file..=self.last_file).map(|file| self.path(file)).collect();
        let mut kept = String::with_capacity(text.len());
        let mut end = 0;
        for range in comment_ranges(&tree, text) {
            let comment = &text[range.clone()];
            if range.start < end || paths.iter().any(|path| path == comment) {
                continue;
            }
            kept.push_str(&text[end..range.start]);
            kept.push_str(&replacement(comment));
            end = range.end;
        }
        kept.push_str(&text[end..]);
        kept
    }

    /// Returns the prefix as the original cleans it: its first file from a parse of the whole file, the others as one segment.
    fn original_prefix(&self, prefix: &str) -> String {
        let second = self.path(self.first_file + 1);
        let lines: Vec<&str> = prefix.split('\n').collect();
        let first = lines.iter().position(|line| line.contains(&second)).unwrap_or(lines.len());
        let rest = self.segment(&lines[first..].join("\n"));
        self.cut_file(self.first_file, first) + &rest
    }

    /// Returns the suffix as the original cleans it: the beginning of its last file, as long as the prefix. The original searches
    /// the prefix for the last file's path.
    fn original_suffix(&self, prefix: &str) -> String {
        let last = self.path(self.last_file);
        let lines: Vec<&str> = prefix.split('\n').collect();
        let found = lines.iter().position(|line| line.contains(&last)).unwrap_or(lines.len());
        self.cut_file(self.last_file, found)
    }

    /// Returns a file without comments that is cut to fewer than `lines` lines.
    fn cut_file(&self, file: usize, lines: usize) -> String {
        let text = self.request.files[file].1;
        let cleaned = self.replace_comments(text, |comment| "\n".repeat(comment.matches('\n').count()));
        let kept: Vec<&str> = cleaned.split('\n').take(lines.saturating_sub(1)).collect();
        [self.path(file).as_str(), "\n", &kept.join("\n"), super::CUT, "\n"].concat()
    }

    fn path(&self, file: usize) -> String {
        path_comment(self.request.language, self.request.files[file].0)
    }
}

/// Adds numbered comment lines in place of the removed tokens.
fn pad(
    request: &ContextRequest<'_>,
    parts: &ContextParts,
    cleaned: ContextParts,
    count: &dyn Fn(&str) -> usize,
) -> ContextParts {
    let removed = |before: &str, after: &str| count(before) as i64 - count(after) as i64;
    let of_needle = removed(&parts.needle, &cleaned.needle);
    let of_needle_before = (of_needle as f64 * request.position) as i64;
    let mut next = 0;
    let mut padding = |tokens: i64| {
        let mut text = String::new();
        let mut covered = 0;
        while covered < tokens - 1 {
            let line = format!("{} Line Number {next}\n", request.language.line_comment());
            covered += count(&line).max(1) as i64;
            text.push_str(&line);
            next += 1;
        }
        text + "\n"
    };
    let before = padding(removed(&parts.prefix, &cleaned.prefix) + of_needle_before);
    let after = padding(removed(&parts.suffix, &cleaned.suffix) + of_needle - of_needle_before);
    ContextParts { prefix: before + &cleaned.prefix, suffix: cleaned.suffix + &after, ..cleaned }
}
