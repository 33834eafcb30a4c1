//! Token formats that their issuers document, and contexts in which any random string is a secret.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::classify_value::compile_pattern as compile;
use crate::entropy::entropy_bits;

/// Tokens with a distinctive format, as (name, pattern of the whole token).
const TOKEN_FORMATS: [(&str, &str); 34] = [
    ("anthropic key", r"\bsk-ant-[a-z0-9]+-[\w-]{20,}"),
    ("openai key", r"\bsk-(?:(?:proj|svcacct|admin|or-v1)-[\w-]{20,}|[A-Za-z0-9]{32,}\b)"),
    ("aws access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("github token", r"\b(?:gh[opsur]_[A-Za-z0-9]{36,}|github_pat_\w{22,})"),
    ("gitlab token", r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[\w-]{20,}"),
    ("slack token", r"\bxox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),
    ("slack app token", r"\bxapp-\d-[A-Z0-9]+-\d+-[a-f0-9]{20,}"),
    ("slack webhook", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/]{40,}"),
    ("discord webhook", r"discord(?:app)?\.com/api/webhooks/\d{17,}/[\w-]{60,}"),
    ("stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("stripe webhook secret", r"\bwhsec_[A-Za-z0-9+/]{32,}"),
    ("google api key", r"\bAIza[\w-]{35}"),
    ("google oauth secret", r"\bGOCSPX-[\w-]{28}"),
    ("google oauth token", r"\bya29\.[\w-]{20,}"),
    ("azure storage key", r"AccountKey=[A-Za-z0-9+/]{86}=="),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi token", r"\bpypi-AgE[\w-]{50,}"),
    ("rubygems token", r"\brubygems_[a-f0-9]{48}\b"),
    ("crates.io token", r"\bcio[A-Za-z0-9]{32}\b"),
    ("docker token", r"\bdckr_(?:pat|oat)_[\w-]{27,}"),
    ("hugging face token", r"\bhf_[A-Za-z0-9]{34,}\b"),
    ("groq key", r"\bgsk_[A-Za-z0-9]{52}\b"),
    ("sendgrid key", r"\bSG\.[\w-]{22}\.[\w-]{43}"),
    ("mailgun key", r"\bkey-[a-f0-9]{32}\b"),
    ("twilio key", r"\bSK[a-f0-9]{32}\b"),
    ("telegram token", r"\b\d{8,10}:AA[\w-]{33}"),
    ("shopify token", r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}\b"),
    ("digitalocean token", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    ("databricks token", r"\bdapi[a-f0-9]{32}\b"),
    ("vault token", r"\bhv[bs]\.[\w-]{24,}"),
    ("grafana token", r"\bgl(?:sa_[A-Za-z0-9]{32}_[a-f0-9]{8}|c_[A-Za-z0-9+/]{32,}={0,2})"),
    ("atlassian token", r"\bATATT3[\w=-]{60,}"),
    ("age key", r"\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b"),
    ("json web token", r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
];

/// Values that the other rules accept as secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecretShape {
    /// A password: letters and digits, but no URL.
    Password,
    /// A key: long, letters and digits mixed within its parts, few repetitions, no URL.
    Key,
    /// The text of a private key: the long runs of base64 in it.
    KeyBlock,
}

/// Contexts of secrets, as (name, pattern, accepted value); the first group that takes part in the match is the secret.
const CONTEXT_PATTERNS: [(&str, &str, SecretShape); 4] = [
    (
        "private key",
        concat!(
            r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:",
            // The whole block.
            r"((?:[^-]|-[^-])*)-----END",
            // A truncated block: its whole lines.
            r#"|((?:(?:[\s"'`,+\\]|\\[nr])*[A-Za-z0-9+/=]{40,})+))"#
        ),
        SecretShape::KeyBlock,
    ),
    (
        "password in settings",
        r#"(?i-u:\b(?:password|pwd)=)([^\s;"'`<>{}$(),]{6,})[;&"'`]"#,
        SecretShape::Password,
    ),
    ("bearer token", r"(?i-u:\bbearer)\s+([A-Za-z0-9._~+/=-]{20,})", SecretShape::Key),
    ("basic authorization", r"(?i-u:\bbasic)\s+([A-Za-z0-9+/]{16,}={0,2})", SecretShape::Key),
];

/// Shorter words mix letters and digits too: `v1`, `oauth2`, `sha256`.
const MIN_MIXED_CHARACTERS: usize = 8;

/// English words and hexadecimal digits in short strings have less; random strings of 16 and more characters have more.
const MIN_KEY_ENTROPY_BITS: f64 = 3.0;

/// Shorter strings are rarely keys, and too many identifiers of this length look random.
const MIN_KEY_CHARACTERS: usize = 16;

static TOKEN_REGEX: LazyLock<Regex> = LazyLock::new(|| {
    let groups = TOKEN_FORMATS.map(|(_, pattern)| format!("({pattern})"));
    compile(&format!("(?-u){}", groups.join("|")))
});

static CONTEXT_REGEXES: LazyLock<[Regex; CONTEXT_PATTERNS.len()]> =
    LazyLock::new(|| CONTEXT_PATTERNS.map(|(_, pattern, _)| compile(pattern)));

/// The pieces of a private key's text; escaped line ends are separate pieces.
static KEY_BLOCK_PIECE: LazyLock<Regex> = LazyLock::new(|| compile(r"\\[nr]|[A-Za-z0-9+/=]+"));

/// Calls `found` with the rule's name and the range of every secret.
pub(crate) fn find(text: &str, mut found: impl FnMut(&'static str, Range<usize>)) {
    find_tokens(text, &mut found);
    for ((rule, _, value), pattern) in CONTEXT_PATTERNS.iter().zip(CONTEXT_REGEXES.iter()) {
        for captures in pattern.captures_iter(text) {
            let secret = captures.iter().skip(1).flatten().next();
            let ranges = secret.map_or(Vec::new(), |secret| value.secrets(secret.as_str(), secret.start()));
            ranges.into_iter().for_each(|range| found(rule, range));
        }
    }
}

fn find_tokens(text: &str, found: &mut dyn FnMut(&'static str, Range<usize>)) {
    for captures in TOKEN_REGEX.captures_iter(text) {
        if let Some((rule, range)) = token(&captures) {
            found(rule, range);
        }
    }
}

fn token(captures: &Captures<'_>) -> Option<(&'static str, Range<usize>)> {
    let (group, found) =
        captures.iter().enumerate().skip(1).find_map(|(group, found)| Some((group, found?)))?;
    Some((TOKEN_FORMATS.get(group - 1)?.0, found.range()))
}

impl SecretShape {
    /// Returns the secret parts of `text`; `text` begins at `start`.
    fn secrets(self, text: &str, start: usize) -> Vec<Range<usize>> {
        let is_secret = match self {
            SecretShape::KeyBlock => return key_block(text, start),
            SecretShape::Password => has_letters_and_digits(text) && !text.contains("://"),
            SecretShape::Key => is_random(text) && !text.contains("://"),
        };
        is_secret.then_some(start..start + text.len()).into_iter().collect()
    }
}

/// Returns all pieces of a key, from the first piece that is random enough.
fn key_block(text: &str, start: usize) -> Vec<Range<usize>> {
    KEY_BLOCK_PIECE
        .find_iter(text)
        .filter(|piece| !piece.as_str().starts_with('\\') && piece.as_str().contains(char::is_alphanumeric))
        .skip_while(|piece| !is_random(piece.as_str()))
        .map(|piece| start + piece.start()..start + piece.end())
        .collect()
}

fn has_letters_and_digits(text: &str) -> bool {
    text.contains(char::is_alphabetic) && text.contains(|character: char| character.is_ascii_digit())
}

/// Whether a string is random rather than composed of words and numbers.
pub(crate) fn is_random(text: &str) -> bool {
    let mut parts = text.split(|character: char| !character.is_ascii_alphanumeric());
    let mixes = parts.any(|part| part.len() >= MIN_MIXED_CHARACTERS && has_letters_and_digits(part));
    text.len() >= MIN_KEY_CHARACTERS && mixes && entropy_bits(text.as_bytes()) >= MIN_KEY_ENTROPY_BITS
}
