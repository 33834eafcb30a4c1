//! Secrets in code: strings and values that a name nearby gives away, in any of the ten languages.
//!
//! One mechanism for all forms. A line that holds a telling word is cut into its strings; the text of the statement before a string
//! says what it is (a password, a key, an argument of a login), and the string itself says whether it can be one. Values without
//! quotes count in comments, in other strings, in URLs and behind `#define`.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;

use crate::classify_value::{
    self, compile_pattern, is_hex_key, is_key, is_password, is_plain_password, is_uuid,
};

/// Longer lines are data; their beginning is looked at, bytes.
const MAX_LINE: usize = 4 << 10;

/// Shorter strings are no secrets, bytes.
const MIN_SECRET: usize = 6;

/// Shorter words behind the name of a scheme are words, bytes.
const MIN_SCHEME_VALUE: usize = 16;

/// How far before a string the word may stand that says what it is, bytes.
const MAX_NAME_DISTANCE: usize = 160;

/// Words that a line must hold to be looked at.
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

/// Strings of a line: triple, raw and plain ones. The first group that takes part is the content.
static STRINGS: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(concat!(
        r##""""(.+?)"""|'''(.+?)'''|r#"(.+?)"#|R"[\w]{0,16}\((.+?)\)[\w]{0,16}""##,
        r#"|@"((?:[^"]|"")*)"|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`([^`]*)`"#
    ))
});

/// Names of passwords and keys; `pass` alone only as a whole word.
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

/// What a name says of something else than the secret itself, right where the name ends.
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

/// Values behind a name within comments and strings, where quotes may be doubled or escaped.
static BARE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)(passw(?:or)?[dt]|passphrase|\bpwd|\bpass|secret|token|api[ _-]?key|(?:access|account)[_-]?key)(?:\w*)(?:["'\])\\]{0,3}\s*(?:[:=]|=>|\bis\b)\s*[\\"'`]{0,3}|\s\\?["'`])([^\s"'`<>{}();,&\\]{6,})"#,
    )
});

/// The same in comments, where words may be between name and value.
static REMARK: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)(?:passw(?:or)?d|passphrase|\bpwd|secret|token|key)(?:\s+\w+){1,3}\s*[:=]\s*["'`]?([^\s"'`<>{}();,&\\]{6,})"#,
    )
});

/// What takes a key and has the name of an algorithm: hashes with a key, ciphers.
static KEYED: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"(?i)hmac|pbkdf2|bcrypt|scrypt|fernet"));

/// A line of variables, as it is in a string of many lines.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"^\s*(?:export\s+)?(?:[A-Z][A-Z0-9_]*(?:PASS|PWD|SECRET|TOKEN|KEY)[A-Z0-9_]*|[\w.]*(?:password|passwd|pwd|secret))=([^\s"'`(){}<>$;,\[\]]{6,})\s*$"#,
    )
});

/// Passwords in statements of SQL and in commands of shells.
static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)identified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?[\\"'`]{1,2}([^"'`\\\s]{6,})|\b(?:mysql|mysqldump|mysqladmin|mariadb)\s[^"'`|;]*?\s-p([^\s"'`]{6,})|\bsshpass\s+-p\s*([^\s"'`]{6,})|["'`](?-i:AUTH)\s([^\s"'`%]{6,})["'`]"#,
    )
});

/// Where the name of an argument follows its default.
static DEFAULT: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"(?i)\bdefault(?:_value)?\s*=\s*$"));

/// A password's name right before the string: assigned, compared, the key of a map, or the call that takes it.
static DIRECT: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"(?:passw(?:or)?[dt]|passphrase|\bpwd|\bpw|\bpass|[a-z_]pwd|_pass|(?-i:[a-z]Pass)|secret)";
    let opening = r"(?:new\s+)?[\w.:@$&*]{0,24}[({]?\s*";
    compile_pattern(&format!(
        concat!(
            r#"(?i)(?:{name}["'\])\s]*(?:\[\w*\]\s*)?(?::\s*[\w&'<>\[\]. ]{{1,24}})?\s*(?::=|={{1,3}}|!==?|:|=>)\s*{opening}"#,
            // The name is the argument or the part before.
            r#"|{name}["'`]\s*,\s*{opening}|#\s*define\s+\w*{name}\w*\s+\(?L?"#,
            // The one that it is compared with.
            r#"|(?:cmp|equals?|compare|assert_eq!|verify|check)\w*\s*\((?:[\w.&*]+,\s*)*[\w.&*]*{name}\w*,\s*{opening}"#,
            // The call that takes it.
            r#"|(?:set|with|use|check|verify|\.)_?\w*{name}\w*\((?:[\w&.*]+,\s*)?{opening})$"#,
        ),
        name = name,
        opening = opening,
    ))
});

/// The name of a key right before the string.
static DIRECT_KEY: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)(?:(?:api|access|auth|secret|private|client|account|bearer|signing|encryption)[_-]?(?:key|token|secret)|secret|token)["'\])\s]*(?:\[\w*\]\s*)?(?::\s*[\w&'<>\[\]. ]{1,24})?\s*(?::=|=|:|=>|["'`]\s*,)\s*(?:new\s+)?[\w.:@$&*]{0,24}[({]?\s*$"#,
    )
});

/// The argument behind a user's name, in calls and tuples that log in.
static LOGIN: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(concat!(
        r#"(?i)(?:(?:log_?in|sign_?in|credentials?\w*|basic_?auth|plain_?auth|userpass\w*|\bauth\w{0,12})["']?(?:\(\))?(?:\.\w{1,16})?\s*(?:[=:]\s*)?(?:new\s+\w+\s*)?[(\[{]"#,
        r#"[^()\[\]]*["'`][^"'`]*["'`]\s*,|["'`](?:root|admin|administrator|user|username|sa|postgres|guest|svc|deploy|minio)["'`]\s*,"#,
        r#"|://.*["'`]:["'`]\s*\+)\s*(?:Some\()?[brRuf@$]{0,2}$"#
    ))
});

/// What takes a user and a password in one string.
static PAIR: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)(?:["'`](?:-u|--user)["'`],|userpwd,|btoa\(|b64encode\(|buffer\.from\(|basic)[^"'`]*$"#,
    )
});

/// Where a comment begins.
static COMMENT: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"(?:^|\s)(?:#|//|--|/\*|\*)|\{/\*|///?!?"));

static DEFINE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r#"(?i)#\s*define\s+\w*(?:pass(?:w|\b|_|$)|pwd|secret|token|key)\w*\s+\(?([^\s"'()]{6,})"#,
    )
});

/// Name and password before a host: of URLs, and of Go's data source names.
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

/// `user:password` as one argument of a program.
static CURL: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r#"(?:-u|--user)[ =]["']?[\w.@-]+:([^\s"'<>{}$]{4,})"#));
static USER_AND_PASSWORD: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"^[\w.@-]{1,40}:([^\s:/]{6,64})$"));
static SCHEME: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(r#"(?i)\b(?:bearer|basic|token|apikey)\s+([A-Za-z0-9._~+/-]{8,}={0,2})"#)
});
static SPRING: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(r"(?i)\$\{[\w.-]*(?:secret|passw(?:or)?d|token|key)[\w.-]*:([^}\s]{6,})\}")
});

/// What names in a statement say of its strings.
#[derive(Default)]
struct NameHints {
    /// A password is named somewhere before it.
    is_password: bool,
    is_key: bool,
    is_call: bool,
    /// A password's name is right before it.
    is_direct_password: bool,
    is_direct_key: bool,
    /// It follows a user's name.
    is_login: bool,
}

/// Calls `found` with every secret: the name of the rule and its range.
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

/// Whether a line ends where a value is to follow, and says what it is.
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

/// Words that documents write for a password.
fn is_password_word(value: &str) -> bool {
    let lower = value.to_lowercase();
    ["password", "passwd", "pass", "pwd", "pw", "secret", "token", "key", "changeme", "port", "xxx"]
        .contains(&&*lower)
        || value.starts_with(['%', '*', '['])
        || value.chars().all(|character| character.is_ascii_digit() && value.len() < 6)
}

/// Values without quotes of their own, in comments and within strings.
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

/// Whether a place is within a string that goes on behind `end`, or that does not end in this line.
fn is_in_string(line: &str, start: usize, end: usize) -> bool {
    let holds = |captures: regex::Captures<'_>| {
        let content = captures.iter().skip(1).flatten().next();
        content.is_some_and(|content| content.start() <= start && end <= content.end())
    };
    STRINGS.captures_iter(line).any(holds)
        || line[..start].matches(['"', '\'', '`']).count() % 2 == 1 && !line[start..end].contains(['"', '`'])
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
    // A value alone in its line, within a string that was opened in the line before.
    let value = line.trim().trim_end_matches(['"', '\'', '`', ',', ';', ')']);
    if before.ends_with(['"', '\'', '`']) && opens_value(before) && is_key(value) {
        let telling = name_hints(before, "", false);
        if telling.is_password || telling.is_key {
            let start = line.len() - line.trim_start().len();
            found("string of lines", start..start + value.len());
        }
    }
}

/// Whether a string is worth a look at what is around it: secrets have digits or signs, and most strings have neither.
fn may_be_secret(value: &str) -> bool {
    value.len() >= MIN_SECRET && value.contains(|c: char| c.is_ascii_digit() || "!@#$%^&".contains(c))
}

/// A password where only a key is expected: with a sign or several digits, or a name that says `secret`.
fn is_strong(value: &str, context: &str) -> bool {
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let lower = context.to_lowercase();
    digits >= 2
        || value.contains(['!', '$', '&', '#', '@'])
        || lower.contains("secret")
        || lower.contains("jwt")
        || lower.contains("hmac")
}

/// The text of the statement before a string, at most as much as can tell of it.
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

/// Whether no bracket ends in a text that began before it: a semicolon before that is in an array's type or a property's body.
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

/// Whether the text before a value says that it is about a secret, as its digest or its name, rather than the secret itself.
pub(crate) fn is_about_secret(text: &str, start: usize) -> bool {
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    let line = text.ceil_char_boundary(line.max(start.saturating_sub(MAX_NAME_DISTANCE)));
    let before = &text[line.min(start)..start];
    ABOUT.is_match(before) || HASHED.is_match(before)
}

/// What the text before a string, and the comment behind it, say of it.
fn name_hints(context: &str, after: &str, overlaps: bool) -> NameHints {
    if overlaps || ABOUT.is_match(context) || HASHED.is_match(context) && !KEYED.is_match(context) {
        return NameHints::default();
    }
    // A comment behind the statement may say what the value is.
    let remark = after.find("//").or_else(|| after.find("/*")).map_or("", |at| &after[at..]);
    let is_default = DEFAULT.is_match(context);
    let remark = if is_default { after } else { remark };
    let remark = if after.len() < MAX_NAME_DISTANCE { remark } else { "" };
    let compared = after.trim_start().starts_with(".equals(") && PASSWORD.is_match(after);
    let says_secret = PASSWORD.is_match(remark) || remark.contains("secret");
    let is_value = context.trim_end_matches(['b', 'L', '@', 'r', ' ']).ends_with(['=', ':', ',', '(', '{']);
    // Java keeps passwords as arrays of characters.
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
