//! Finds strings and values whose context marks them as secrets, in any of the ten languages.
//!
//! One mechanism covers all forms. A line with a keyword is split into its strings; the statement before a string shows its role
//! (a password, a key, an argument of a login), and the string itself shows whether it can be a secret. Unquoted values count in
//! comments, in other strings, in URLs and after `#define`.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;

use crate::classify_value::{
    self, compile_ascii_words, compile_pattern, is_hex_key, is_key, is_password, is_plain_password, is_uuid,
};

/// Longer lines are data: only their beginning is searched, bytes.
const MAX_LINE: usize = 4 << 10;

/// Shorter strings are not secrets, bytes.
const MIN_SECRET: usize = 6;

/// Shorter values after the name of a scheme are words, bytes.
const MIN_SCHEME_VALUE: usize = 16;

/// Largest distance between a name and its string, bytes.
const MAX_NAME_DISTANCE: usize = 160;

/// A line is searched only if it contains one of these words.
static WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let words = [
        "pass",
        "pwd",
        "secret",
        "token",
        "key",
        "cred",
        "auth",
        "login",
        "connect",
        "cipher",
        "crypt",
        "hmac",
        "jwt",
        "sign",
        "bearer",
        "basic",
        "wifi",
        "ldap",
        "://",
        "@tcp(",
        "curl",
        "btoa",
        "buffer",
        "pin\"",
        "x-api",
        "sql.open",
        "pw",
        "identified by",
        "sequelize",
        "mysql",
    ];
    let built =
        AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(words);
    built.expect("the words are constants")
});

/// String literals of a line: triple-quoted, raw and plain. The first group that takes part in the match is the content.
static STRINGS: LazyLock<Regex> = LazyLock::new(|| {
    compile_ascii_words(concat!(
        r##""""(.+?)"""|'''(.+?)'''|r#"(.+?)"#|R"[\w]{0,16}\((.+?)\)[\w]{0,16}""##,
        r#"|@"((?:[^"]|"")*)"|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`([^`]*)`"#
    ))
});

/// Names of passwords and keys; `pass` only as a whole word.
static PASSWORD: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)passw(?:or)?[dt]|passphrase|(?:^|[^a-z])pwd|pwd(?:[^a-z]|$)|\bpw\b|(?:[_-]|\b)pass(?:\b|[_\d])|[a-z]Pass\b|\bcreds?\b|credential|getpass|securestring",
    )
});
static KEY: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)secret|token|api[_-]?key|\bkeys?\b|[_-]keys?\b|[a-z]Keys?\b|\bauth(?:[^o]|o[^r]|$)|authorization|bearer|\bcred|account[_-]?key|jwt|hmac|signing|sealed|x-api",
    )
});

/// Calls that take a password among their arguments.
static CALL: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)auth(?:[^o]|o[^r]|ori[sz]|$)|login|credential|connect|cipher|crypt|hmac|jwt|\bsign|wifi|userpass|userpwd|sql\.open|basic|curl|btoa|buffer\.from|secretkeyspec|\bkey\b|ldap|security|getbytes|pbkdf2|fernet",
    )
});

/// Suffixes of names that describe a secret instead of holding it.
static ABOUT: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(concat!(
        r"(?i)(?:passw(?:or)?d|passphrase|pwd|pass|secret|token|key|credentials?|auth)s?[_ -]?",
        r"(?:id\b|hash|digest|label|field|type|name|path|file|url|uri|endpoint|hint|header|regex|pattern|format|length|len|size|min|max|placeholder|prompt|message|msg|error|err|title|text|policy|strength|rule|issuer|algorithm|alg|prefix|suffix|address|symbol|color|count|index|kind|version|column|validators?|ref|env|provider|code|binding|shortcut|board|frame|down|up|press|usage|manager|store[_-]?type|service|reset|change|timeout|days|age|expir|ttl|lifetime|history|attempt|score)",
        r"[\w]*[^\w]{0,8}$"
    ))
});
static HASHED: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"(?i)public[_-]?key|hash|digest|checksum|sha\d|md5|fingerprint|integrity|etag|uuid|guid|nonce|\bi18n|data-testid|classname|translat|\bt\(|resolved|^\s*import\b|#include|require\(|describe\(|\bit\(|t\.run\(",
    )
});

/// Values after a name within comments and strings, where quotes may be doubled or escaped.
static BARE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)(passw(?:or)?[dt]|passphrase|\bpwd|\bpass|secret|token|api[ _-]?key|(?:access|account)[_-]?key)(?:\w*)(?:["'\])\\]{0,3}\s*(?:[:=]|=>|\bis\b)\s*[\\"'`]{0,3}|\s\\?["'`])([^\s"'`<>{}();,&\\]{6,})"#,
    )
});

/// The same in comments, where words may separate name and value.
static REMARK: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)(?:passw(?:or)?d|passphrase|\bpwd|secret|token|key)(?:\s+\w+){1,3}\s*[:=]\s*["'`]?([^\s"'`<>{}();,&\\]{6,})"#,
    )
});

/// Algorithms that take a key: keyed hashes and ciphers.
static KEYED: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"(?i)hmac|pbkdf2|bcrypt|scrypt|fernet"));

/// A line with an assignment, as in multi-line strings.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"^\s*(?:export\s+)?(?:[A-Z][A-Z0-9_]*(?:PASS|PWD|SECRET|TOKEN|KEY)[A-Z0-9_]*|[\w.]*(?:password|passwd|pwd|secret))=([^\s"'`(){}<>$;,\[\]]{6,})\s*$"#,
    )
});

/// Passwords in SQL statements and shell commands.
static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)identified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?[\\"'`]{1,2}([^"'`\\\s]{6,})|\b(?:mysql|mysqldump|mysqladmin|mariadb)\s[^"'`|;]*?\s-p([^\s"'`]{6,})|\bsshpass\s+-p\s*([^\s"'`]{6,})|["'`](?-i:AUTH)\s([^\s"'`%]{6,})["'`]"#,
    )
});

/// A default value that precedes the name of its argument.
static DEFAULT: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"(?i)\bdefault(?:_value)?\s*=\s*$"));

/// A password's name directly before the string: an assignment, a comparison, a key of a map, or a call that takes the password.
static DIRECT: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"(?:passw(?:or)?[dt]|passphrase|\bpwd|\bpw|\bpass|[a-z_]pwd|_pass|(?-i:[a-z]Pass)|secret)";
    let opening = r"(?:new\s+)?[\w.:@$&*]{0,24}[({]?\s*";
    compile_ascii_words(&format!(
        concat!(
            r#"(?i)(?:{name}["'\])\s]*(?:\[\w*\]\s*)?(?::\s*[\w&'<>\[\]. ]{{1,24}})?\s*(?::=|={{1,3}}|!==?|:|=>)\s*{opening}"#,
            // The name is the previous argument or element.
            r#"|{name}["'`]\s*,\s*{opening}|#\s*define\s+\w*{name}\w*\s+\(?L?"#,
            // The string is compared with the name.
            r#"|(?:cmp|equals?|compare|assert_eq!|verify|check)\w*\s*\((?:[\w.&*]+,\s*)*[\w.&*]*{name}\w*,\s*{opening}"#,
            // The call takes the password.
            r#"|(?:set|with|use|check|verify|\.)_?\w*{name}\w*\((?:[\w&.*]+,\s*)?{opening})$"#,
        ),
        name = name,
        opening = opening,
    ))
});

/// A key's name directly before the string.
static DIRECT_KEY: LazyLock<Regex> = LazyLock::new(|| {
    compile_ascii_words(
        r#"(?i)(?:(?:api|access|auth|secret|private|client|account|bearer|signing|encryption)[_-]?(?:key|token|secret)|secret|token)["'\])\s]*(?:\[\w*\]\s*)?(?::\s*[\w&'<>\[\]. ]{1,24})?\s*(?::=|=|:|=>|["'`]\s*,)\s*(?:new\s+)?[\w.:@$&*]{0,24}[({]?\s*$"#,
    )
});

/// The argument after a user name, in calls and tuples that log in.
static LOGIN: LazyLock<Regex> = LazyLock::new(|| {
    compile_ascii_words(concat!(
        r#"(?i)(?:(?:log_?in|sign_?in|credentials?\w*|basic_?auth|plain_?auth|userpass\w*|\bauth\w{0,12})["']?(?:\(\))?(?:\.\w{1,16})?\s*(?:[=:]\s*)?(?:new\s+\w+\s*)?[(\[{]"#,
        r#"[^()\[\]]*["'`][^"'`]*["'`]\s*,|["'`](?:root|admin|administrator|user|username|sa|postgres|guest|svc|deploy|minio)["'`]\s*,"#,
        r#"|://.*["'`]:["'`]\s*\+)\s*(?:Some\()?[brRuf@$]{0,2}$"#
    ))
});

/// Calls that take user and password in one string.
static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)(?:["'`](?:-u|--user)["'`],|userpwd,|btoa\(|b64encode\(|buffer\.from\(|basic)[^"'`]*$"#,
    )
});

/// Start of a comment.
static COMMENT: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"(?:^|\s)(?:#|//|--|/\*|\*)|\{/\*|///?!?"));

static DEFINE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)#\s*define\s+\w*(?:pass(?:w|\b|_|$)|pwd|secret|token|key)\w*\s+\(?([^\s"'()]{6,})"#,
    )
});

/// Name and password before a host, in URLs and in Go's data source names.
static USERINFO: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"://[^\s:/@"'`<>{}$%]*:([^\s/@"'`<>{}$]+)@|://([0-9a-f]{24,})@|["'`][\w.-]+:([^\s:@/"'`<>{}$]{4,})@(?:(?:tcp|unix|udp)?\(|/)"#,
    )
});

static PARAMETER: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)[?&;](?:[\w-]*(?:key|token|secret|sig|signature)|auth|pass|password|pwd)=([^&\s"'`<>{}$;#]{6,})"#,
    )
});

/// `user:password` as one argument of a command.
static CURL: LazyLock<Regex> =
    LazyLock::new(|| compile_ascii_words(r#"(?:-u|--user)[ =]["']?[\w.@-]+:([^\s"'<>{}$]{4,})"#));
static USER_AND_PASSWORD: LazyLock<Regex> =
    LazyLock::new(|| compile_ascii_words(r"^[\w.@-]{1,40}:([^\s:/]{6,64})$"));
static SCHEME: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(r#"(?i)\b(?:bearer|basic|token|apikey)\s+([A-Za-z0-9._~+/-]{8,}={0,2})"#)
});
static SPRING: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(r"(?i)\$\{[\w.-]*(?:secret|passw(?:or)?d|token|key)[\w.-]*:([^}\s]{6,})\}")
});

/// Hints that the names in a statement give about its strings.
#[derive(Default)]
struct NameHints {
    /// A password is named somewhere before the string.
    is_password: bool,
    is_key: bool,
    is_call: bool,
    /// A password's name is directly before the string.
    is_direct_password: bool,
    is_direct_key: bool,
    /// The string follows a user name.
    is_login: bool,
}

/// Calls `found` with the rule's name and the range of every secret.
pub(crate) fn find(text: &str, mut found: impl FnMut(&'static str, Range<usize>)) {
    let mut words = WORDS.find_iter(text).map(|word| word.start()).peekable();
    let (mut start, mut before, mut opens) = (0, "", false);
    while words.peek().is_some() || opens {
        let rest = &text[start..];
        let whole = &rest[..rest.find('\n').map_or(rest.len(), |end| end + 1)];
        if whole.is_empty() {
            break;
        }
        let mut has_word = false;
        while words.next_if(|word| *word < start + whole.len()).is_some() {
            has_word = true;
        }
        let line = &whole[..whole.floor_char_boundary(MAX_LINE)];
        if has_word || opens {
            find_in_line(before, line.trim_end_matches(['\n', '\r']), &mut |rule, range| {
                found(rule, start + range.start..start + range.end);
            });
        }
        if !line.trim().is_empty() {
            before = line.trim_end();
            opens = has_word && opens_value(before);
        }
        start += whole.len();
    }
}

/// Whether a line ends with a character that a value in the next line may follow.
fn opens_value(line: &str) -> bool {
    line.ends_with(['=', '(', ':', ',', '\\', '`', '"', '\'', '+'])
}

fn find_in_line(before: &str, line: &str, found: &mut dyn FnMut(&'static str, Range<usize>)) {
    let group =
        |captures: &regex::Captures<'_>| captures.iter().skip(1).flatten().next().map(|found| found.range());
    for captures in USERINFO.captures_iter(line) {
        let Some(range) = group(&captures) else { continue };
        if !is_password_word(&line[range.clone()]) {
            found("password in url", range);
        }
    }
    let is_any: fn(&str) -> bool = is_plain_secret;
    for (rule, pattern, is_secret) in [
        ("parameter", &PARAMETER, is_secret as fn(&str) -> bool),
        ("define", &DEFINE, is_secret),
        ("spring default", &SPRING, is_any),
        ("curl", &CURL, is_any),
        ("command", &COMMAND, is_any),
        ("variable", &VARIABLE, is_any),
    ] {
        for range in pattern.captures_iter(line).filter_map(|captures| group(&captures)) {
            if is_secret(&line[range.clone()]) {
                found(rule, range);
            }
        }
    }
    for range in SCHEME.captures_iter(line).filter_map(|captures| group(&captures)) {
        let value = &line[range.clone()];
        let is_pair = classify_value::decode_base64(value).is_some_and(|text| text.contains(':'));
        if is_pair || value.len() >= MIN_SCHEME_VALUE && (is_key(value) || is_hex_key(value)) {
            found("authorization", range);
        }
    }
    find_unquoted(line, found);
    find_in_strings(before, line, found);
}

fn is_secret(value: &str) -> bool {
    is_password(value) || is_key(value)
}

fn is_plain_secret(value: &str) -> bool {
    is_secret(value) || is_plain_password(value)
}

/// Whether the value is a word that documentation uses for a password.
fn is_password_word(value: &str) -> bool {
    let lower = value.to_lowercase();
    ["password", "passwd", "pass", "pwd", "pw", "secret", "token", "key", "changeme", "port", "xxx"]
        .contains(&&*lower)
        || value.starts_with(['%', '*', '['])
        || value.chars().all(|character| character.is_ascii_digit() && value.len() < 6)
}

/// Finds unquoted values in comments and within strings.
fn find_unquoted(line: &str, found: &mut dyn FnMut(&'static str, Range<usize>)) {
    let comment = COMMENT.find(line).map(|comment| comment.start());
    if let Some(comment) = comment {
        for captures in REMARK.captures_iter(&line[comment..]) {
            let Some(value) = captures.get(1) else { continue };
            let text = value.as_str().trim_end_matches(['.', '?', ']', '*']);
            if is_secret(text) {
                let start = comment + value.start();
                found("value in text", start..start + text.len());
            }
        }
    }
    for captures in BARE.captures_iter(line) {
        let (Some(name), Some(value)) = (captures.get(1), captures.get(2)) else { continue };
        let in_comment = comment.is_some_and(|comment| comment < name.start());
        if !in_comment && !is_in_string(line, name.start(), value.end()) {
            continue;
        }
        let text = value.as_str().trim_end_matches(['.', '?', ']', '*']);
        let is_secret = if PASSWORD.is_match(name.as_str()) { is_plain_secret } else { is_secret };
        if is_secret(text) {
            found("value in text", value.start()..value.start() + text.len());
        } else if is_secret(value.as_str()) {
            found("value in text", value.range());
        }
    }
}

/// Whether a position is within a string that continues after `end`, or that does not end in this line.
fn is_in_string(line: &str, start: usize, end: usize) -> bool {
    STRINGS.captures_iter(line).any(|captures| {
        let content = captures.iter().skip(1).flatten().next();
        content.is_some_and(|content| content.start() <= start && end <= content.end())
    }) || line[..start].matches(['"', '\'', '`']).count() % 2 == 1 && !line[start..end].contains(['"', '`'])
}

fn find_in_strings(before: &str, line: &str, found: &mut dyn FnMut(&'static str, Range<usize>)) {
    let mut end_of_last = 0;
    for captures in STRINGS.captures_iter(line) {
        let (Some(whole), Some(content)) = (captures.get(0), captures.iter().skip(1).flatten().next()) else {
            continue;
        };
        let value = content.as_str();
        if !may_be_secret(value) {
            end_of_last = whole.end();
            continue;
        }
        let context = statement_before(before, line, whole.start());
        let telling = name_hints(&context, &line[whole.end()..], whole.start() < end_of_last);
        end_of_last = whole.end();
        let opening = context.trim_end_matches(['b', 'r', 'u', 'f', 'L', '@', '$']);
        let is_argument = opening.trim_end().ends_with(',') || opening.ends_with('(');
        let is_secret = telling.is_password && is_secret(value)
            || telling.is_key && (is_key(value) || is_password(value) && is_strong(value, &context))
            || telling.is_direct_password && is_plain_password(value)
            || telling.is_direct_key && (is_uuid(value) || is_hex_key(value))
            || telling.is_call && is_argument && is_secret(value)
            || telling.is_login && is_plain_password(value);
        if is_secret {
            found("string", content.range());
        } else if (telling.is_call || telling.is_password)
            && let Some(pair) = USER_AND_PASSWORD.captures(value).and_then(|captures| captures.get(1))
            && (is_password(pair.as_str()) || PAIR.is_match(&context) && is_plain_password(pair.as_str()))
        {
            found("user and password", content.start() + pair.start()..content.start() + pair.end());
        }
    }
    // A value alone in its line, within a string that starts in the previous line.
    let value = line.trim().trim_end_matches(['"', '\'', '`', ',', ';', ')']);
    if before.ends_with(['"', '\'', '`']) && opens_value(before) && is_key(value) {
        let telling = name_hints(before, "", false);
        if telling.is_password || telling.is_key {
            let start = line.len() - line.trim_start().len();
            found("string of lines", start..start + value.len());
        }
    }
}

/// Whether a string can be a secret, so that its context is checked: secrets have digits or special characters, and most strings
/// have neither.
fn may_be_secret(value: &str) -> bool {
    value.len() >= MIN_SECRET && value.contains(|c: char| c.is_ascii_digit() || "!@#$%^&".contains(c))
}

/// Whether a value can be a password where a key is expected: it has special characters or several digits, or a name like
/// `secret` is near.
fn is_strong(value: &str, context: &str) -> bool {
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let lower = context.to_lowercase();
    digits >= 2
        || value.contains(['!', '$', '&', '#', '@'])
        || lower.contains("secret")
        || lower.contains("jwt")
        || lower.contains("hmac")
}

/// Returns the text of the statement before a string, limited to the part that can describe the string.
fn statement_before(before: &str, line: &str, start: usize) -> String {
    let head = &line[..start];
    let from = head.ceil_char_boundary(head.len().saturating_sub(MAX_NAME_DISTANCE));
    let head = &head[from..];
    let statement = head.rmatch_indices(';').map(|(at, _)| at + 1).find(|at| is_balanced(&head[*at..]));
    let head = &head[statement.unwrap_or(0)..];
    let is_bare = head.trim_matches(|c: char| c.is_whitespace() || "([{@$brRuLf&*".contains(c)).is_empty();
    if is_bare && opens_value(before) {
        let from = before.ceil_char_boundary(before.len().saturating_sub(MAX_NAME_DISTANCE));
        [&before[from..], " ", head].concat()
    } else {
        head.to_owned()
    }
}

/// Whether `text` closes no bracket that it does not open: a semicolon before such a bracket is in an array's type or a
/// property's body.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0_i32;
    text.chars().all(|character| {
        depth += match character {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        depth >= 0
    })
}

/// Whether the text before a value describes a secret, for example its digest or name, instead of the secret itself.
pub(crate) fn is_about_secret(text: &str, start: usize) -> bool {
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let line = text.ceil_char_boundary(line.max(start.saturating_sub(MAX_NAME_DISTANCE)));
    let before = &text[line.min(start)..start];
    ABOUT.is_match(before) || HASHED.is_match(before)
}

/// Returns the hints of the text before a string and of the comment after it.
fn name_hints(context: &str, after: &str, overlaps: bool) -> NameHints {
    if overlaps || ABOUT.is_match(context) || HASHED.is_match(context) && !KEYED.is_match(context) {
        return NameHints::default();
    }
    // A comment after the statement may describe the value.
    let remark = after.find("//").or_else(|| after.find("/*")).map_or("", |at| &after[at..]);
    let is_default = DEFAULT.is_match(context);
    let remark = if is_default { after } else { remark };
    let remark = if after.len() < MAX_NAME_DISTANCE { remark } else { "" };
    let compared = after.trim_start().starts_with(".equals(") && PASSWORD.is_match(after);
    let says_secret = PASSWORD.is_match(remark) || remark.contains("secret");
    let is_value = context.trim_end_matches(['b', 'L', '@', 'r', ' ']).ends_with(['=', ':', ',', '(', '{']);
    // Java stores passwords as arrays of characters.
    let is_array = after.starts_with(".toCharArray()");
    NameHints {
        is_password: PASSWORD.is_match(context) || compared || PASSWORD.is_match(remark),
        is_key: KEY.is_match(context) || KEY.is_match(remark),
        is_call: CALL.is_match(context),
        is_direct_password: DIRECT.is_match(context) || says_secret && is_value || is_array,
        is_direct_key: DIRECT_KEY.is_match(context) || says_secret && is_value,
        is_login: LOGIN.is_match(context),
    }
}
