//! The secrets in these tests are composed at run time, so that scanners do not report this file.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// Returns `length` characters that look random, always the same ones, from `alphabet`.
fn random(alphabet: &str, length: usize) -> String {
    let alphabet = alphabet.as_bytes();
    (0..length)
        .map(|position| char::from(alphabet[(position * position * 7 + position * 3 + 5) % alphabet.len()]))
        .collect()
}

fn letters(length: usize) -> String {
    random("aB3dE5fG7hI9jK1lM0nO2pQ4rS6tU8vWyZ", length)
}

fn capitals(length: usize) -> String {
    random("A2C4E6G7IJKLMNOPQ", length)
}

fn hex(length: usize) -> String {
    random("0a1b2c3d4e5f6789", length)
}

/// Returns one secret for every rule, with the code around it.
fn samples() -> Vec<(&'static str, String, String, String)> {
    let token = |rule, secret: String| (rule, "key = ".to_owned(), secret, ";".to_owned());
    let place =
        |rule, before: &str, secret: String, after: &str| (rule, before.to_owned(), secret, after.to_owned());
    vec![
        token("anthropic key", format!("sk-{}-{}", "ant-api03", letters(40))),
        token("openai key", format!("sk-{}-{}", "proj", letters(40))),
        token("openai key", format!("sk-{}", letters(48))),
        token("aws access key", format!("AK{}{}", "IA", capitals(16))),
        token("github token", format!("gh{}_{}", "p", letters(36))),
        token("github token", format!("github_{}_{}", "pat", letters(40))),
        token("gitlab token", format!("gl{}-{}", "pat", letters(20))),
        token("slack token", format!("xox{}-{}", "b", letters(24))),
        token("slack app token", format!("xapp-{}-A0-12-{}", 1, hex(32))),
        token("slack webhook", format!("hooks.slack.com/{}/T0/{}", "services", letters(40))),
        token(
            "discord webhook",
            format!("discord.com/api/{}/{}/{}", "webhooks", "1".repeat(18), letters(68)),
        ),
        token("stripe key", format!("sk_{}_{}", "live", letters(24))),
        token("stripe webhook secret", format!("wh{}_{}", "sec", letters(32))),
        token("google api key", format!("AI{}{}", "za", letters(35))),
        token("google oauth secret", format!("GOC{}-{}", "SPX", letters(28))),
        token("google oauth token", format!("ya{}.{}", 29, letters(40))),
        token("azure storage key", format!("Account{}={}==", "Key", letters(86))),
        token("npm token", format!("np{}_{}", "m", letters(36))),
        token("pypi token", format!("py{}-AgE{}", "pi", letters(60))),
        token("rubygems token", format!("ruby{}_{}", "gems", hex(48))),
        token("crates.io token", format!("ci{}{}", "o", letters(32))),
        token("docker token", format!("dckr_{}_{}", "pat", letters(27))),
        token("hugging face token", format!("h{}_{}", "f", letters(34))),
        token("groq key", format!("gs{}_{}", "k", letters(52))),
        token("sendgrid key", format!("S{}.{}.{}", "G", letters(22), letters(43))),
        token("mailgun key", format!("ke{}-{}", "y", hex(32))),
        token("twilio key", format!("S{}{}", "K", hex(32))),
        token("telegram token", format!("{}:A{}{}", 1234567890, "A", letters(33))),
        token("shopify token", format!("shp{}_{}", "at", hex(32))),
        token("digitalocean token", format!("do{}_v1_{}", "p", hex(64))),
        token("databricks token", format!("da{}{}", "pi", hex(32))),
        token("vault token", format!("hv{}.{}", "s", letters(24))),
        token("grafana token", format!("gl{}_{}_{}", "sa", letters(32), hex(8))),
        token("atlassian token", format!("ATA{}3{}", "TT", letters(80))),
        token("age key", format!("AGE-{}-KEY-1{}", "SECRET", capitals(58))),
        token("json web token", format!("ey{0}{1}.ey{0}{1}.{1}", "J", letters(20))),
        place(
            "private key",
            "-----BEGIN RSA PRIVATE KEY-----\n",
            letters(64),
            "\n-----END RSA PRIVATE KEY-----",
        ),
        place("private key", "\"-----BEGIN PRIVATE KEY-----\\n", letters(64), "\\n\" + rest"),
        place("password in url", "postgres://admin:", "hunter2!".to_owned(), "@db.example.org/users"),
        place("password", "password = \"", "Tr0ub4dor&3".to_owned(), "\""),
        place(
            "password",
            "const char *DB_PASSWD[] = {\"x\"}; set_password('",
            "Tr0ub4dor&3".to_owned(),
            "')",
        ),
        place(
            "password in settings",
            "\"Server=db;User=sa;Password=",
            "Tr0ub4dor&3".to_owned(),
            ";Timeout=3\"",
        ),
        place("key", "{\"client_secret\": \"", letters(24), "\"}"),
        place("key", "aws_secret_access_key: str = '", letters(40), "'"),
        place("key", "headers.set(\"X-Api-Key\", `", hex(32), "`)"),
        place("bearer token", "Authorization: Bearer ", letters(30), "\""),
        place("basic authorization", "Authorization: Basic ", letters(30), "=="),
    ]
}

#[test]
fn each_secret_is_found_and_nothing_else() {
    for (rule, before, secret, after) in samples() {
        let text = format!("{before}{secret}{after}\n");
        let findings = find_secrets(&text);
        let found: Vec<&str> = findings.iter().map(|finding| &text[finding.range.clone()]).collect();
        assert!(found.len() == 1 && found[0].starts_with(&secret), "{rule} in {text}: {findings:?}");
    }
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&redact(text));
}

#[test]
fn secret_is_masked_with_the_same_length_inside_its_quotes() {
    check(
        "api_key = \"aB3dE5fG7hI9jK1l\"  # ours\n",
        expect![[r#"
        api_key = "xxxxxxxxxxxxxxxx"  # ours
    "#]],
    );
    check(
        "password: 'Größe123'\n",
        expect![[r#"
        password: 'xxxxxxxxxx'
    "#]],
    );
}

#[test]
fn masked_private_key_keeps_its_lines() {
    let line = letters(64);
    let header = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n";
    check(
        &format!("{header}\n{line}\n{line}\nAb3=\n-----END RSA PRIVATE KEY-----\nfn main() {{}}\n"),
        expect![[r#"
            -----BEGIN RSA PRIVATE KEY-----
            Proc-Type: 4,ENCRYPTED

            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            xxxx
            -----END RSA PRIVATE KEY-----
            fn main() {}
        "#]],
    );
    check(
        &format!("k = \"-----BEGIN PRIVATE KEY-----\\n{line}\\nAb3=\\n-----END PRIVATE KEY-----\"\n"),
        expect![[r#"
            k = "-----BEGIN PRIVATE KEY-----\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\nxxxx\n-----END PRIVATE KEY-----"
        "#]],
    );
}

#[test]
fn masked_private_key_keeps_comment_marks() {
    let line = letters(64);
    check(
        &format!("/// -----BEGIN PRIVATE KEY-----\n/// {line}\n/// {line}\n/// -----END PRIVATE KEY-----\n"),
        expect![[r#"
            /// -----BEGIN PRIVATE KEY-----
            /// xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            /// xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            /// -----END PRIVATE KEY-----
        "#]],
    );
}

#[test]
fn code_that_only_mentions_secrets_has_no_findings() {
    for text in [
        "password = input(\"password: \")",
        "token: Token = self.tokens[\"first_token_of_line_2\"]",
        "token_type = \"urn:ietf:params:oauth:token-type:access_token\"",
        "let secret = std::env::var(\"MY_APP_SECRET_KEY_V2\")?;",
        "const PASSWORD_FIELD = \"password\"; const apiKey = process.env.API_KEY_2;",
        "PEM = \"-----BEGIN PRIVATE KEY-----\\n\" + body + \"\\n-----END PRIVATE KEY-----\"",
        "if (!text.startsWith(\"-----BEGIN PRIVATE KEY-----\")) return parsePrivateKeyBlockFromDer(text)",
        "url = f\"postgres://{user}:{password}@{host}/db\"",
        "see https://example.org:8080/@scope/package",
        "token_url = \"https://auth0.example.org/oauth2/token\"",
        "reset_password_url = \"https://example.org/v2/reset\"",
        "TOKEN_PATH = \"/api/v1/oauth2/sha256/token\"",
        "Bearer authentication_is_explained_elsewhere",
        "sk-folding-cube-animation-delay { }",
        "commit = \"3f786850e387550fdab836ed7e6dc881de23001b\"",
    ] {
        assert_eq!(find_secrets(text), [], "{text}");
    }
}

#[test]
fn secret_inside_a_rejected_match_is_found() {
    check(
        "password = \"https://me:hunter@example.org\"\n",
        expect![[r#"
        password = "https://me:xxxxxx@example.org"
    "#]],
    );
}

#[test]
fn values_that_end_in_characters_of_several_bytes_are_classified() {
    for (value, is_secret) in [("ኲ&ab", false), ("Oxid3-éron", true), ("Oxidé-éron", false)] {
        let text = format!("password = \"{value}\"");
        assert_eq!(redact(&text) != text, is_secret, "{value}");
    }
}

/// Generates code with secrets, quotes, line ends and partial tokens in any order.
fn code() -> impl Strategy<Value = String> {
    let secrets: Vec<String> =
        samples().into_iter().map(|(_, before, secret, after)| before + &secret + &after).collect();
    let piece = prop_oneof![
        proptest::sample::select(secrets),
        "[a-zA-Z0-9_=:\"'@/ -]{0,12}",
        Just("\r\n".to_owned()),
        "\\PC{0,4}",
        Just("password = \"".to_owned()),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn redaction_keeps_offsets_and_lines_and_is_idempotent(text in code()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(once.len(), text.len());
        let line_ends = |text: &str| text.match_indices(['\r', '\n']).map(|(at, _)| at).collect::<Vec<_>>();
        prop_assert_eq!(line_ends(&once), line_ends(&text));
        prop_assert_eq!(redact(&once), once.as_str());
    }
}
