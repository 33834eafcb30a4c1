//! File names that suggest keys or passwords. Such files are neither indexed, nor sent, nor recorded.

/// Extensions of key stores, certificates with keys and files of secret settings.
const ENDINGS: [&str; 13] = [
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".pkcs12",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".asc",
    ".gpg",
    ".tfvars",
    ".ovpn",
];

/// Whole names under which tools look up logins and keys.
const NAMES: [&str; 15] = [
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".vault-token",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
];

/// Names without their extensions. Source files count too (`secrets.py`, `arduino_secrets.h`): skipping a harmless module costs
/// little, recording a password does not.
const STEMS: [&str; 7] =
    ["secret", "secrets", "credential", "credentials", "arduino_secrets", "service-account", "client_secret"];

/// Whether the last part of `path` is a usual name for a file with keys or passwords.
pub fn is_secret_like(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let stem = name.split_once('.').map_or(name.as_str(), |(stem, _)| stem);
    NAMES.contains(&name.as_str())
        || name.starts_with(".env.")
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
        || STEMS.contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::is_secret_like;

    #[test]
    fn names_of_keys_and_logins_are_secret_like() {
        for path in [
            ".env",
            "deploy/.env.production",
            "certs/server.pem",
            "ID_RSA",
            "a/id_ed25519",
            "credentials",
            "aws/credentials.json",
            "secrets.py",
            "src/arduino_secrets.h",
            ".npmrc",
        ] {
            assert!(is_secret_like(path), "{path}");
        }
    }

    #[test]
    fn ordinary_names_are_not_secret_like() {
        for path in [
            "env.py",
            "src/keys.rs",
            "secrets/store.py",
            "monkey.ts",
            "id_rsa_parser.go",
            "tokens.c",
            "envelope.js",
        ] {
            assert!(!is_secret_like(path), "{path}");
        }
    }
}
