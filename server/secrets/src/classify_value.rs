//! Classifies a text as a password, a key or neither, without its context.

use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use crate::entropy::entropy_bits;

/// Shorter passwords cannot be distinguished from words.
const MIN_PASSWORD_CHARACTERS: usize = 6;

/// Longer texts are not typed passwords.
const MAX_PASSWORD_CHARACTERS: usize = 64;

/// Minimum of a random key: characters, changes between letters and digits (or hexadecimal digits in their place), and entropy.
const MIN_KEY_CHARACTERS: usize = 12;
const MIN_KEY_CHANGES: usize = 4;
const MIN_HEX_CHARACTERS: usize = 24;
const MIN_KEY_ENTROPY_BITS: f64 = 3.0;

/// Fewest hexadecimal digits of a key whose name says that it is one: 64 bits.
const MIN_NAMED_HEX_CHARACTERS: usize = 16;

/// This many digits after a name are not the number of a field: `admin1234`.
const MIN_LONE_DIGITS: usize = 3;

/// Maximum memory of what a search with one pattern keeps for the next one, bytes. Beyond that it begins again, which takes time only.
pub(crate) const MAX_SEARCH_BYTES: usize = 256 << 10;

/// Package versions, addresses of people, decorators, operators between names.
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)[\^~]\d+\.\d|^mailto:|^[\w.+-]+@[\w-]+\.[a-z]{2,}$|^@[a-z_.]+$|^\+\w+\+$|^[a-z.*+()]+$",
    )
});

/// Keyboard shortcuts.
static CHORD: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)^(?:(?:ctrl|control|shift|alt|option|cmd|command|mod|meta|super|c|m|s)[+-])+(?:\w|f\d{1,2}|[a-z]{2,9})$",
    )
});

/// Placeholders for secrets, and words for their absence; parts of a value, in lower case.
const PLACEHOLDERS: [&str; 24] = [
    "example",
    "placeholder",
    "changeme",
    "changeit",
    "change",
    "your",
    "test",
    "dummy",
    "fake",
    "sample",
    "todo",
    "replace",
    "insert",
    "here",
    "redacted",
    "masked",
    "mock",
    "foo",
    "bar",
    "baz",
    "lorem",
    "xxx",
    "xxxx",
    "value",
];

/// Words that contain digits.
static WORDS_WITH_DIGITS: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(concat!(
        r"(?i)sha[0-9]{1,3}|utf[-_]?(?:8|16|32)|base(?:16|32|58|64)|oauth2?|ed25519|x25519|curve25519|nistp?[0-9]+|secp[0-9]+[a-z][0-9]",
        r"|pkcs[0-9]*|argon2(?:id|i|d)?|pbkdf2|(?:int|float)(?:8|16|32|64)|auth0|log4j|neo4j|csrf",
        // Shorter ones occur within words too.
        r"|\b(?:md[0-9]|b64|i18n|l10n|a11y|k8s|s3|x509|h26[0-9]|p12|mp[34]|2fa|e2e|ipv[46]|http[123]|[reh]s(?:256|384|512)|aes[0-9]*|rsa[0-9]*",
        r"|win32|x86|x64|u8|u16|u32|u64|i32|i64|v[0-9]+|h[1-6]|ec2|py[23]|web3|3d|2d|d3|r2d2|iso[0-9]*)\b"
    ))
});

/// Names of secrets within a value: `client-secret-v2` is no secret, `S3cret-Zeta` is one.
static NAMES: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)passwords?|passwd|passphrase|secrets?|tokens?|credentials?|keys?|users?|admin|login|auth",
    )
});

static UUID: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"));

pub(crate) fn compile_pattern(pattern: &str) -> Regex {
    let mut pattern = RegexBuilder::new(pattern);
    let compiled = pattern.dfa_size_limit(MAX_SEARCH_BYTES).build();
    compiled.expect("the patterns are constants, and every test compiles them")
}

/// Compiles a pattern in which `\w` is a letter, digit or underscore in ASCII. For patterns that repeat it: as a class of Unicode, with
/// hundreds of ranges, it takes a megabyte for 24 repetitions.
pub(crate) fn compile_ascii_words(pattern: &str) -> Regex {
    compile_pattern(&pattern.replace(r"\w", "[0-9A-Za-z_]"))
}

/// Whether a text is only the mask, or a repetition of one character.
fn is_masked(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    characters.all(|character| Some(character) == first)
}

/// Whether a text is a placeholder, a path or a pattern, and not a secret.
fn is_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    let parts = || lower.split(|character: char| !character.is_alphanumeric());
    is_masked(text)
        || text.contains(|character: char| character.is_whitespace() || character.is_control())
        || [
            "<", "{", "$(", "${", "%s", "%d", "%(", "***", "...", "://", "@@", "\\d", "\\w", "?:", "(?",
            "[^", "[a-z",
        ]
        .iter()
        .any(|mark| text.contains(mark))
        || text.starts_with(['/', '.', '~', '#', '%', ':', '-', '&', '?', '$'])
        || text.len() > 1
            && ["@", "__", "%"].iter().any(|mark| text.starts_with(mark) && text.ends_with(mark))
        || parts().any(|part| PLACEHOLDERS.contains(&part.trim_end_matches(|c: char| c.is_ascii_digit())))
        || UUID.is_match(text)
        || CHORD.is_match(text)
        || REFERENCE.is_match(text)
}

/// Whether a text is like a password that people invent: digits or special characters within words, not only after them.
pub(crate) fn is_password(text: &str) -> bool {
    let length = text.chars().count();
    if !(MIN_PASSWORD_CHARACTERS..=MAX_PASSWORD_CHARACTERS).contains(&length) || is_placeholder(text) {
        return false;
    }
    // Paths, file names, lists of types, calls.
    let slashes = text.matches('/').count();
    if slashes > 0
        || text.contains(['(', ')', '[', ']', '|', ';', ',', '"', '\'', '`', '\\']) && !has_sign(text)
    {
        return false;
    }
    let without_terms = WORDS_WITH_DIGITS.replace_all(text, "");
    let core = NAMES.replace_all(&without_terms, "");
    has_digit_within(&core)
        || has_sign(&core) && has_letters(&core)
        || has_year(&core)
        || has_lone_number(&core)
        || has_leet_part(&core)
}

/// Whether a text has special characters that do not join words.
fn has_sign(text: &str) -> bool {
    let inner = text.trim_matches(['!', '?', '*', '&', '#']);
    inner.contains(['!', '@', '#', '$', '%', '^', '&'])
        || inner.contains(['~', '+']) && text.contains(|character: char| character.is_ascii_digit())
        || text.ends_with('!') && text.contains(|character: char| character.is_ascii_digit())
}

fn has_letters(text: &str) -> bool {
    text.chars().filter(|character| character.is_alphabetic()).nth(2).is_some()
}

/// Whether a digit has letters on both sides, as in `tr0ub4dor`, or precedes the letters of a part, as in `1ceberg`.
fn has_digit_within(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    let is_digit = |at: usize| characters.get(at).is_some_and(char::is_ascii_digit);
    let is_letter = |at: usize| characters.get(at).is_some_and(|character| character.is_alphabetic());
    (1..characters.len()).any(|at| {
        if !is_digit(at) || is_digit(at - 1) {
            return false;
        }
        let end = (at..characters.len()).find(|next| !is_digit(*next)).unwrap_or(characters.len());
        let opens_part = !is_letter(at - 1) && at >= 2 && is_letter(end) && is_letter(end + 1);
        is_letter(at) || is_letter(at - 1) && is_letter(end) || opens_part
    }) || is_digit(0)
        && is_letter(1)
        && is_letter(2)
        && characters.iter().filter(|c| c.is_alphabetic()).count() > 4
        || ends_in_leet(&characters)
}

/// Whether a part begins with a capital letter, ends with one digit and is followed by another part: `Oxid3-Iron`.
fn has_leet_part(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['-', '_', '.', '~', '&', ' ']).collect();
    let is_leet = |part: &str| {
        part.strip_suffix(|last: char| last.is_ascii_digit()).is_some_and(|word| {
            word.len() >= 2
                && word.starts_with(|c: char| c.is_ascii_uppercase())
                && word.chars().all(char::is_alphabetic)
        })
    };
    parts.windows(2).any(|two| is_leet(two[0]) && two[1].starts_with(char::is_alphabetic))
}

/// Whether a text may be a password in a context that expects one: letters with digits, as in `hunter2`, also in parts joined by
/// a hyphen or another special character. A name followed by a number, as in `password2`, is a name.
pub(crate) fn is_plain_password(text: &str) -> bool {
    let without_terms = WORDS_WITH_DIGITS.replace_all(text, "");
    let core = NAMES.replace_all(&without_terms, "");
    let letters = |text: &str| text.chars().filter(|character| character.is_alphabetic()).count();
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).count();
    !is_placeholder(text)
        && (MIN_PASSWORD_CHARACTERS..=MAX_PASSWORD_CHARACTERS).contains(&text.len())
        && text.chars().all(|character| character.is_alphanumeric() || "-!@#$%^&*+=?".contains(character))
        && letters(text) >= 3
        && (letters(&core) >= 2 && digits(&core) >= 1 || digits(&core) >= MIN_LONE_DIGITS)
}

/// Whether a text has the form of a UUID. UUIDs are identifiers, and keys only in contexts that expect a key.
pub(crate) fn is_uuid(text: &str) -> bool {
    UUID.is_match(text) && !is_masked(&text.replace('-', ""))
}

/// Whether a text is a hexadecimal number that is long enough for a key in a context that expects one.
pub(crate) fn is_hex_key(text: &str) -> bool {
    text.len() >= MIN_NAMED_HEX_CHARACTERS
        && text.chars().all(|character| character.is_ascii_hexdigit())
        && has_letters_and_digits(text)
        && entropy_bits(text.as_bytes()) >= MIN_KEY_ENTROPY_BITS
}

/// Whether a text has several capitalized parts and the last part ends with a digit: `Pebble-Sh0re9`.
fn ends_in_leet(characters: &[char]) -> bool {
    let text: String = characters.iter().collect();
    let parts: Vec<&str> = text.split(['-', '_', '.', '~']).filter(|part| !part.is_empty()).collect();
    let ends = |part: &&&str| part.ends_with(|character: char| character.is_ascii_digit());
    let is_version =
        |part: &str| part.starts_with(['V', 'v']) && part[1..].chars().all(|c| c.is_ascii_digit());
    let capitals = parts
        .iter()
        .filter(|part| part.starts_with(|character: char| character.is_ascii_uppercase()))
        .count();
    let last_is_number =
        parts.last().is_some_and(|part| part.chars().all(|c| c.is_ascii_digit()) || ends(&part));
    parts.len() >= 2
        && capitals >= 2
        && last_is_number
        && !parts.last().is_some_and(|part| is_version(part))
        && parts.iter().all(|part| {
            part.chars().any(|c| c.is_ascii_lowercase()) || part.chars().all(|c| c.is_ascii_digit())
        })
}

/// Whether a text is a capitalized word followed by a number of two or four digits: `Winter2024`, `Blue42`.
fn has_year(text: &str) -> bool {
    let digits = text.chars().rev().take_while(char::is_ascii_digit).count();
    let word = &text[..text.len() - digits];
    let has_both =
        word.contains(|c: char| c.is_ascii_uppercase()) && word.contains(|c: char| c.is_ascii_lowercase());
    let is_upper_number = word.len() >= 4 && has_both && !word.contains(['.', ' ', '-', '_', ':']);
    (digits == 2 || digits == 4) && is_upper_number
}

/// Whether a number is a part between words: `Kiwi_77_Tree`.
fn has_lone_number(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['_', '-']).collect();
    let is_word = |part: &str| {
        part.len() >= 3 && part.chars().all(char::is_alphabetic) && part.starts_with(char::is_uppercase)
    };
    parts.windows(3).any(|three| {
        is_word(three[0])
            && three[1].len() >= 2
            && three[1].chars().all(|c| c.is_ascii_digit())
            && is_word(three[2])
    })
}

/// Whether a text is random: long, with letters and digits mixed.
pub(crate) fn is_key(text: &str) -> bool {
    if text.len() < MIN_KEY_CHARACTERS
        || is_placeholder(text)
        || entropy_bits(text.as_bytes()) < MIN_KEY_ENTROPY_BITS
    {
        return false;
    }
    let is_part =
        |character: char| character.is_ascii_alphanumeric() || "+/=_-.~!@#$%^&*".contains(character);
    if !text.chars().all(is_part) {
        return false;
    }
    let core = WORDS_WITH_DIGITS.replace_all(text, "");
    let core = NAMES.replace_all(&core, "");
    let hex = core.strip_prefix("0x").unwrap_or(&core);
    let is_hex =
        hex.len() >= MIN_HEX_CHARACTERS && hex.chars().all(|character| character.is_ascii_hexdigit());
    count_letter_digit_changes(&core) >= MIN_KEY_CHANGES && core.len() >= MIN_KEY_CHARACTERS
        || is_hex && has_letters_and_digits(hex)
        || is_base64(&core)
}

fn has_letters_and_digits(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit()) && text.contains(|c: char| c.is_ascii_alphabetic())
}

/// Returns the number of changes between letters and digits within parts.
fn count_letter_digit_changes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let differ = |pair: &&[u8]| {
        pair[0].is_ascii_digit() && pair[1].is_ascii_alphabetic()
            || pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit()
    };
    bytes.windows(2).filter(|pair| differ(&&**pair)).count()
}

/// Whether a text is base64 of another text: it changes often between upper and lower case, and has digits.
fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let cases = body
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() != pair[1].is_ascii_lowercase())
        .count();
    body.len() >= 16
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
        && has_letters_and_digits(body)
        && cases * 3 >= body.len()
}

/// Returns the text that the base64 encodes, if it is printable.
pub(crate) fn decode_base64(text: &str) -> Option<String> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        bits = bits << 6 | u32::from(digit(byte)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains(char::is_control))
}
