//! The rules of gitleaks: token formats of some 200 services, as data.
//!
//! `data/gitleaks.toml` is gitleaks' own file (MIT, see `data/gitleaks-LICENSE`) without the sample keys in the allowlist of
//! `gcp-api-key`, which code hosts would report as real keys. A rule applies to texts that contain one of its keywords. Its
//! pattern is compiled at the first such text: compiling all patterns takes seconds. The patterns use Go's syntax, with ASCII
//! classes.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Captures, Regex, RegexBuilder};
use toml::de::{DeTable, DeValue};

use crate::classify_value::MAX_SEARCH_BYTES;
use crate::entropy::entropy_bits;

const RULES: &str = include_str!("../data/gitleaks.toml");

/// Largest compiled pattern, bytes: twice the size of the largest rule's.
const MAX_PATTERN_BYTES: usize = 64 << 20;

/// Context around a keyword that is searched if a pattern contains its keyword, bytes. The longest match takes 50 bytes before
/// the keyword and a token of some 1,500 bytes after it.
const BEFORE_KEYWORD: usize = 256;
const AFTER_KEYWORD: usize = 4 << 10;

/// A rule that accepts any value after any name, also names of variables. Here it applies to strings only.
pub(crate) const GENERIC: &str = "generic-api-key";

/// Shortest value of that rule, bytes.
const MIN_LITERAL: usize = 10;

/// Rules that are not used: our rule for private keys keeps the lines of a key, and masks truncated ones.
const REPLACED_RULES: [&str; 1] = ["private-key"];

/// A rule of gitleaks.
pub(crate) struct GitleaksRule {
    /// Name of the rule.
    pub(crate) id: &'static str,
    keywords: Vec<String>,
    pattern: String,
    compiled: OnceLock<Option<Regex>>,
    /// Values with at most this entropy are not reported, bits per byte.
    entropy: Option<f64>,
    secret_group: Option<usize>,
    allowlists: Vec<Allowlist>,
    /// Whether the pattern matches only with the keyword in it.
    names_keyword: bool,
}

/// Matches of a rule that are not secrets.
struct Allowlist {
    target: AllowlistTarget,
    patterns: Vec<LazyRegex>,
    /// In lower case.
    stopwords: Option<AhoCorasick>,
}

#[derive(Clone, Copy)]
enum AllowlistTarget {
    Secret,
    Match,
    Line,
}

/// A pattern that is compiled at its first use.
struct LazyRegex {
    pattern: String,
    compiled: OnceLock<Option<Regex>>,
}

impl LazyRegex {
    fn new(pattern: &str) -> LazyRegex {
        LazyRegex { pattern: pattern.to_owned(), compiled: OnceLock::new() }
    }

    fn is_match(&self, text: &[u8]) -> bool {
        let compiled = self.compiled.get_or_init(|| compile(&self.pattern).ok());
        compiled.as_ref().is_some_and(|pattern| pattern.is_match(text))
    }
}

/// All rules in use, with an automaton for their keywords.
pub(crate) struct GitleaksRules {
    pub(crate) rules: Vec<GitleaksRule>,
    allowlists: Vec<Allowlist>,
    keywords: AhoCorasick,
    /// The rules of each keyword.
    rules_by_keyword: Vec<Vec<usize>>,
}

static ALL: LazyLock<GitleaksRules> = LazyLock::new(|| GitleaksRules::parse(RULES));

/// Returns the rules.
pub(crate) fn rules() -> &'static GitleaksRules {
    &ALL
}

impl GitleaksRules {
    fn parse(text: &'static str) -> GitleaksRules {
        let (table, _) = DeTable::parse_recoverable(text);
        let table = table.into_inner();
        let rules: Vec<GitleaksRule> = tables(&table, "rules").filter_map(GitleaksRule::parse).collect();
        let allowed = table.get("allowlist").and_then(|value| value.get_ref().as_table());
        let mut keywords: Vec<String> = rules.iter().flat_map(|rule| rule.keywords.clone()).collect();
        keywords.sort_unstable();
        keywords.dedup();
        let of_keyword = keywords.iter().map(|keyword| {
            let has = |rule: &GitleaksRule| rule.keywords.contains(keyword);
            rules.iter().enumerate().filter(|(_, rule)| has(rule)).map(|(index, _)| index).collect()
        });
        GitleaksRules {
            rules_by_keyword: of_keyword.collect(),
            keywords: keyword_automaton(&keywords),
            allowlists: allowed.and_then(Allowlist::parse).into_iter().collect(),
            rules,
        }
    }

    /// Calls `found` with the rule's name and the range of every secret.
    pub(crate) fn find(&self, text: &str, mut found: impl FnMut(&'static str, Range<usize>)) {
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); self.rules_by_keyword.len()];
        for keyword in self.keywords.find_overlapping_iter(text) {
            places[keyword.pattern().as_usize()].push(keyword.start());
        }
        let mut of_rule: Vec<Vec<usize>> = vec![Vec::new(); self.rules.len()];
        for (places, rules) in places.iter().zip(&self.rules_by_keyword) {
            for rule in rules {
                of_rule[*rule].extend(places);
            }
        }
        for (rule, mut places) in self.rules.iter().zip(of_rule) {
            if !places.is_empty() {
                places.sort_unstable();
                rule.find(text, &places, &self.allowlists, &mut |range| found(rule.id, range));
            }
        }
    }
}

impl GitleaksRule {
    fn parse(table: &DeTable<'static>) -> Option<GitleaksRule> {
        let text = |key: &str| Some(table.get(key)?.get_ref().as_str()?.to_owned());
        let id: &'static str = Box::leak(text("id")?.into_boxed_str());
        // The rule requires the path of another kind of file: our texts are code.
        if table.contains_key("path") || REPLACED_RULES.contains(&id) {
            return None;
        }
        let number = |key: &str| match table.get(key)?.get_ref() {
            DeValue::Integer(number) => number.as_str().parse::<f64>().ok(),
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            _ => None,
        };
        let pattern = text("regex")?;
        let keywords: Vec<String> = strings(table, "keywords").map(str::to_lowercase).collect();
        let lower = pattern.to_lowercase();
        Some(GitleaksRule {
            id,
            names_keyword: keywords.iter().all(|keyword| lower.contains(keyword.as_str())),
            keywords,
            pattern,
            compiled: OnceLock::new(),
            entropy: number("entropy"),
            // A small whole number.
            secret_group: number("secretGroup").map(|group| group as usize),
            allowlists: tables(table, "allowlists").filter_map(Allowlist::parse).collect(),
        })
    }

    /// Compiles the pattern.
    pub(crate) fn compile(&self) -> Result<Regex, regex::Error> {
        compile(&self.pattern)
    }

    fn find(
        &self,
        text: &str,
        keywords: &[usize],
        global: &[Allowlist],
        found: &mut dyn FnMut(Range<usize>),
    ) {
        // A test covers rules that do not compile.
        let Some(pattern) = self.compiled.get_or_init(|| self.compile().ok()) else { return };
        let windows = match self.names_keyword {
            _ if self.id == GENERIC => lines_with_literals(text, keywords),
            true => windows(text, keywords),
            false => std::iter::once(0..text.len()).collect(),
        };
        for window in windows {
            for captures in pattern.captures_iter(&text.as_bytes()[window.clone()]) {
                if let Some(secret) = self.secret(text, window.start, &captures, global) {
                    found(secret);
                }
            }
        }
    }

    /// Returns the secret part of a match; `captures` begin at `start`.
    fn secret(
        &self,
        text: &str,
        start: usize,
        captures: &Captures<'_>,
        global: &[Allowlist],
    ) -> Option<Range<usize>> {
        let whole = captures.get(0)?;
        let group = match self.secret_group {
            Some(group) => captures.get(group),
            None => captures.iter().skip(1).flatten().find(|group| !group.is_empty()),
        };
        let secret = group.unwrap_or(whole).range();
        let range = |range: Range<usize>| start + range.start..start + range.end;
        let (secret, whole) = (range(secret), range(whole.range()));
        let bytes = &text.as_bytes()[secret.clone()];
        if self.entropy.is_some_and(|least| entropy_bits(bytes) <= least) {
            return None;
        }
        let is_allowed = |allowed: &Allowlist| allowed.allows(text, &secret, &whole);
        let is_allowed = global.iter().chain(&self.allowlists).any(is_allowed);
        (!is_allowed).then_some(secret)
    }
}

impl Allowlist {
    /// Returns `None` for lists of paths: they do not apply to our texts, which are code.
    fn parse(table: &DeTable<'static>) -> Option<Allowlist> {
        let is_and = table.get("condition").is_some_and(|value| value.get_ref().as_str() == Some("AND"));
        if is_and && table.contains_key("paths") {
            return None;
        }
        let stopwords: Vec<&str> = strings(table, "stopwords").collect();
        Some(Allowlist {
            target: match table.get("regexTarget").and_then(|value| value.get_ref().as_str()) {
                Some("match") => AllowlistTarget::Match,
                Some("line") => AllowlistTarget::Line,
                _ => AllowlistTarget::Secret,
            },
            patterns: strings(table, "regexes").map(LazyRegex::new).collect(),
            stopwords: (!stopwords.is_empty()).then(|| keyword_automaton(&stopwords)),
        })
    }

    fn allows(&self, text: &str, secret: &Range<usize>, whole: &Range<usize>) -> bool {
        let bytes = text.as_bytes();
        let target = match self.target {
            AllowlistTarget::Secret => secret.clone(),
            AllowlistTarget::Match => whole.clone(),
            AllowlistTarget::Line => line_around(bytes, whole),
        };
        let secret = &bytes[secret.clone()];
        self.patterns.iter().any(|pattern| pattern.is_match(&bytes[target.clone()]))
            || self.stopwords.as_ref().is_some_and(|words| words.is_match(secret))
    }
}

fn line_around(bytes: &[u8], range: &Range<usize>) -> Range<usize> {
    let start = bytes[..range.start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let end = bytes[range.end..].iter().position(|byte| *byte == b'\n');
    start..end.map_or(bytes.len(), |at| range.end + at)
}

/// Returns the parts of a text around positions, in order and without overlap; whole lines if the lines are short.
fn windows(text: &str, places: &[usize]) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    for place in places {
        let start = text.floor_char_boundary(place.saturating_sub(BEFORE_KEYWORD));
        let end = text.ceil_char_boundary((place + AFTER_KEYWORD).min(text.len()));
        match windows.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => windows.push(start..end),
        }
    }
    windows
}

/// Returns the lines at positions that contain a string with a digit that is long enough for a key.
fn lines_with_literals(text: &str, places: &[usize]) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    for place in places {
        if lines.last().is_some_and(|last| *place < last.end) {
            continue;
        }
        lines.push(line_around(text.as_bytes(), &(*place..*place)));
    }
    lines.retain(|line| {
        let mut strings = text[line.clone()].split(['"', '\'', '`']).skip(1);
        strings.any(|string| {
            string.len() >= MIN_LITERAL && string.contains(|character: char| character.is_ascii_digit())
        })
    });
    lines
}

fn keyword_automaton<P: AsRef<[u8]>>(words: &[P]) -> AhoCorasick {
    let built =
        AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(words);
    built.expect("the words are constants, and every test builds them")
}

/// Without Unicode, classes are ASCII as in Go.
fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    let mut pattern = RegexBuilder::new(&to_rust_syntax(pattern));
    pattern.unicode(false).size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_SEARCH_BYTES).build()
}

/// Translates a Go pattern into the syntax of the regex crate: Go accepts a brace that begins no repetition as a literal, and a
/// bracket in a class.
fn to_rust_syntax(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut rest = pattern.char_indices().peekable();
    let mut in_class = false;
    while let Some((at, character)) = rest.next() {
        match character {
            '\\' => {
                let Some((_, escaped)) = rest.next() else { continue };
                // The regex crate rejects needless escapes.
                if !['%', '"', '\'', '/', '_', ' ', ':'].contains(&escaped) {
                    out.push('\\');
                }
                out.push(escaped);
                continue;
            }
            '[' if in_class && !pattern[at..].starts_with("[:") => out.push('\\'),
            '[' if in_class => {
                let end = pattern[at..].find(":]").map_or(at + 1, |end| at + end + 2);
                out.push_str(&pattern[at..end]);
                while rest.next_if(|(next, _)| *next < end).is_some() {}
                continue;
            }
            '[' => {
                in_class = true;
                out.push('[');
                // A closing bracket at the start of a class is a member of the class.
                if rest.next_if(|(_, next)| *next == '^').is_some() {
                    out.push('^');
                }
                if rest.next_if(|(_, next)| *next == ']').is_some() {
                    out.push_str("\\]");
                }
                continue;
            }
            ']' => in_class = false,
            '{' if !in_class && !begins_repetition(&pattern[at..]) => out.push('\\'),
            _ => {}
        }
        out.push(character);
    }
    out
}

fn begins_repetition(text: &str) -> bool {
    let Some((inner, _)) = text.get(1..).and_then(|text| text.split_once('}')) else { return false };
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    !least.is_empty() && least.chars().chain(most.chars()).all(|character| character.is_ascii_digit())
}

fn tables<'a>(
    table: &'a DeTable<'static>,
    key: &str,
) -> impl Iterator<Item = &'a DeTable<'static>> + use<'a> {
    let list = table.get(key).and_then(|value| value.get_ref().as_array());
    list.into_iter().flat_map(|list| list.iter()).filter_map(|value| value.get_ref().as_table())
}

fn strings<'a>(table: &'a DeTable<'static>, key: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let list = table.get(key).and_then(|value| value.get_ref().as_array());
    list.into_iter().flat_map(|list| list.iter()).filter_map(|value| value.get_ref().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules for the contents of other kinds of files, and rules that are replaced.
    const LEFT_OUT: [&str; 6] = [
        "freemius-secret-key",
        "hashicorp-tf-password",
        "kubernetes-secret-yaml",
        "nuget-config-password",
        "pkcs12-file",
        "private-key",
    ];

    #[test]
    fn every_gitleaks_rule_is_used_or_listed_as_left_out() {
        let (table, errors) = DeTable::parse_recoverable(RULES);
        assert!(errors.is_empty());
        let ids = tables(table.get_ref(), "rules").filter_map(|rule| rule.get("id")?.get_ref().as_str());
        let mut left_out: Vec<&str> = ids.collect();
        assert_eq!(left_out.len(), 222);
        left_out.retain(|id| rules().rules.iter().all(|rule| rule.id != *id));
        left_out.sort_unstable();
        assert_eq!(left_out, LEFT_OUT);
    }

    #[test]
    fn every_pattern_compiles() {
        for rule in &rules().rules {
            rule.compile().unwrap_or_else(|error| panic!("{}: {error}", rule.id));
            assert!(!rule.keywords.is_empty(), "{}", rule.id);
        }
        let lists = rules().rules.iter().flat_map(|rule| &rule.allowlists).chain(&rules().allowlists);
        for pattern in lists.flat_map(|allowed| &allowed.patterns) {
            compile(&pattern.pattern).unwrap_or_else(|error| panic!("{error}"));
        }
    }

    #[test]
    fn braces_and_brackets_are_converted_from_go_syntax() {
        for (go, rust) in [
            (r"a{2}b{1,}c{1,3}", r"a{2}b{1,}c{1,3}"),
            (r"{{[^}]+}}", r"\{\{[^}]+}}"),
            (r"^\$(?:\d+|{\d+})$", r"^\$(?:\d+|\{\d+})$"),
            (r"[^:]+:\[[^]]+]", r"[^:]+:\[[^\]]+]"),
            (r"[\w[x]", r"[\w\[x]"),
            (r"pat[[:alnum:]]{14}", r"pat[[:alnum:]]{14}"),
        ] {
            assert_eq!(to_rust_syntax(go), rust);
        }
    }
}
