//! The memory of the rules: a server keeps them as long as it runs, and most of them are compiled by the code it sees during a day.

use test_fixture::CountingAllocator;

/// Maximum bytes of the compiled rules that read code, together with the parsed ones of gitleaks.
const MAX_BYTES: usize = 10 << 20;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn rules_that_every_kind_of_code_compiles_take_little_memory() {
    let code = [
        "password = \"open sesame 7\"  # the password: of the server",
        "let token = client.login(\"admin\", \"hunter2!\"); // key = abc123def456",
        "#define API_KEY \"0123456789abcdef\"",
        "url = \"https://user:secret1@example.org?key=value12&token=abcdef1\"",
        "curl -u user:passw0rd1 https://example.org",
        "CREATE USER x IDENTIFIED BY 'secret12'",
        "spring: ${app.secret:defaultvalue1}",
        "headers = {\"Authorization\": \"Bearer abc.def.ghi123456789\"}",
        "connect(\"user\", \"pass1word\"); sign(\"user:pass1word\"); cipher = Cipher(\"0a1b2c3d4e5f60718293a4b5\")",
        "expect(password == \"ctrl+shift+p\"); assert_eq!(token, \"sha256-abc\"); secret: \"größe7wörter\"",
    ];
    let before = CountingAllocator::allocated_bytes();
    for line in code {
        secrets::find_secrets(line);
    }
    let kept = CountingAllocator::allocated_bytes() - before;
    assert!(kept <= MAX_BYTES, "{kept} bytes");
}
