//! Compact signatures, for showing many of them in little space.

use std::ops::Range;

use crate::outline::{Definition, truncate};

/// Replaces the part of a signature that was cut off.
pub const ELLIPSIS: &str = "…";

/// Modifiers before a name that restrict its use and do not describe it.
const MODIFIERS: [&str; 27] = [
    "abstract",
    "async",
    "const",
    "constexpr",
    "declare",
    "default",
    "def",
    "explicit",
    "export",
    "extern",
    "final",
    "friend",
    "inline",
    "internal",
    "native",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "public",
    "readonly",
    "sealed",
    "static",
    "synchronized",
    "unsafe",
    "virtual",
];

/// Forms of a receiver parameter.
const RECEIVERS: [&str; 8] =
    ["self", "cls", "&self", "&mut self", "mut self", "self: Self", "this", "&'a self"];

impl Definition {
    /// Returns the signature without modifiers and without the receiver parameter, in at most `limit` bytes.
    ///
    /// Cut parts are replaced by [`ELLIPSIS`]; the name is always kept.
    pub fn compact_signature(&self, limit: usize) -> String {
        let joined = join_brackets(&self.signature);
        let mut rest = &*joined;
        while let Some(shorter) = MODIFIERS.iter().find_map(|word| without_word(rest, word)) {
            // A `def` distinguishes a function without a receiver, unless the function is a member.
            if rest.starts_with("def ") && self.container.is_none() {
                break;
            }
            rest = shorter;
        }
        let mut compact = rest.to_owned();
        if let Some((before, after)) = rest.split_once('(') {
            let receiver =
                RECEIVERS.iter().filter_map(|receiver| after.strip_prefix(receiver)).find_map(|after| {
                    after
                        .strip_prefix(", ")
                        .or_else(|| after.strip_prefix(','))
                        .or(after.starts_with(')').then_some(after))
                });
            if let Some(after) = receiver {
                compact = format!("{before}({after}");
            }
        }
        if compact.len() <= limit {
            return compact;
        }
        let from_name = self.name_in(&compact).filter(|name| name.end + ELLIPSIS.len() > limit);
        let start = if let Some(name) = from_name { name.start } else { 0 };
        let opening = if start > 0 { ELLIPSIS } else { "" };
        let kept = truncate(&compact[start..], limit.saturating_sub(opening.len() + ELLIPSIS.len()));
        format!("{opening}{kept}{}", if start + kept.len() < compact.len() { ELLIPSIS } else { "" })
    }

    /// Position of the name in a signature: before the parameters if it is callable.
    fn name_in(&self, signature: &str) -> Option<Range<usize>> {
        let is_in_name = |c: char| c.is_alphanumeric() || c == '_';
        let is_whole = |start: usize| {
            !signature[..start].ends_with(is_in_name)
                && !signature[start + self.name.len()..].starts_with(is_in_name)
        };
        let places = signature.match_indices(&*self.name).map(|(start, _)| start);
        let start = places.filter(|_| !self.name.is_empty()).find(|&start| is_whole(start))?;
        Some(start..start + self.name.len())
    }
}

/// Joins a signature of several lines into one line.
fn join_brackets(signature: &str) -> String {
    let joined = signature.replace("( ", "(").replace("[ ", "[");
    joined.replace(", )", ")").replace(" )", ")").replace(", ]", "]").replace(" ]", "]")
}

/// Returns `text` after its first word `word` (`pub(crate)` counts as `pub`).
fn without_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let after = text.strip_prefix(word)?;
    let after = match after.strip_prefix('(') {
        Some(inside) if word == "pub" => inside.split_once(')')?.1,
        _ => after,
    };
    let rest = after.strip_prefix(' ')?;
    (!rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use crate::{Language, parse};

    #[track_caller]
    fn check(language: Language, text: &str, expected: &[&str]) {
        let outline = parse(language, text).outline(text);
        let compact: Vec<String> =
            outline.definitions.iter().map(|definition| definition.compact_signature(48)).collect();
        assert_eq!(compact, expected);
    }

    #[test]
    fn modifiers_receivers_and_line_breaks_are_removed() {
        let python = "class A(B):\n    def add(\n        self,\n        rule: str,\n    ) -> int: pass\ndef free(self): pass\n";
        check(Language::Python, python, &["class A(B)", "add(rule: str) -> int", "def free()"]);
        let rust = "impl A { pub(crate) fn get(&mut self, key: u8) -> u8 { 0 } }\npub const fn free() {}\n";
        check(Language::Rust, rust, &["fn get(key: u8) -> u8", "fn free()"]);
        let java = "class A { public static final int LIMIT = 1; protected void run(int a) {} }";
        check(Language::Java, java, &["class A", "int LIMIT", "void run(int a)"]);
        check(
            Language::Python,
            "def free(\n    one,  # the first\n    two):\n    pass\n",
            &["def free(one, two)"],
        );
    }

    #[test]
    fn long_signature_is_truncated_before_its_name() {
        let text = "class A { Dictionary<string, List<KeyValuePair<string, int>>> LongName(int first) {} }";
        check(Language::CSharp, text, &["class A", "…LongName(int first)"]);
    }

    #[test]
    fn long_parameter_list_is_truncated() {
        let text = "def add(first: str, second: str, third: str, größe: str): pass\n";
        check(Language::Python, text, &["def add(first: str, second: str, third: str, …"]);
    }
}
