//! Accounts: a developer, an analyst or an administrator, and the secrets that prove to be one.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

/// The rights of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountRole {
    /// Sends its own opportunities, and deletes them.
    Developer,
    /// Reads the opportunities of all developers.
    Analyst,
    /// Reads everything, and deletes the opportunities of any developer.
    Admin,
}

impl AccountRole {
    /// All roles.
    pub const ALL: [AccountRole; 3] = [AccountRole::Developer, AccountRole::Analyst, AccountRole::Admin];

    /// The name in the database and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            AccountRole::Developer => "developer",
            AccountRole::Analyst => "analyst",
            AccountRole::Admin => "admin",
        }
    }

    /// Returns the role of this name.
    pub fn from_name(name: &str) -> Option<AccountRole> {
        AccountRole::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether it may read the opportunities of others.
    pub fn may_read(self) -> bool {
        matches!(self, AccountRole::Analyst | AccountRole::Admin)
    }
}

impl fmt::Display for AccountRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An account. It has no secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Its name, which only the administrator and the audit log know.
    pub name: String,
    /// Its rights.
    pub role: AccountRole,
    /// Its pseudonym: the developer of its rows. It changes whenever rows are deleted, so that no copy can keep them under it.
    pub developer: String,
    /// When it was created, ms since 1970.
    pub created_at: i64,
    /// Whether it has a token or certificate.
    pub is_active: bool,
}

/// A name that no account can have.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} is no name of an account; use up to 64 letters, digits and -_.@")]
pub struct NameError(pub String);

/// Checks the name of an account: it is shown in messages and the audit log.
///
/// # Errors
/// It is empty, too long, or has other characters.
pub fn check_name(name: &str) -> Result<(), NameError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    match !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) {
        true => Ok(()),
        false => Err(NameError(name.to_owned())),
    }
}

/// Proof of being an account, as the database keeps it: neither a token nor a certificate can be computed from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialHash(pub(crate) String);

impl CredentialHash {
    /// The hash of a token. Tokens are random, so that a plain hash resists guessing.
    pub fn of_token(token: &str) -> CredentialHash {
        CredentialHash(format!("token-{}", blake3::hash(token.as_bytes()).to_hex()))
    }

    /// The hash of a certificate in DER form.
    pub fn of_certificate(certificate: &[u8]) -> CredentialHash {
        CredentialHash(format!("certificate-{}", blake3::hash(certificate).to_hex()))
    }
}

/// Beginning of every token, by which scanners of secrets and people know it.
pub const TOKEN_PREFIX: &str = "gbc_";

/// Creates a token with 256 random bits.
///
/// # Errors
/// The system has no random numbers.
pub fn new_token() -> Result<String, getrandom::Error> {
    Ok(format!("{TOKEN_PREFIX}{}", random_hex::<32>()?))
}

/// Creates a pseudonym.
///
/// # Errors
/// The system has no random numbers.
pub(crate) fn new_pseudonym() -> Result<String, getrandom::Error> {
    random_hex::<16>()
}

fn random_hex<const BYTES: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
