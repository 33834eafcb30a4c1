//! Accounts and their credentials.

use super::sql::{SqlConnection, SqlRow};
use super::{CollectStore, CollectStoreError, now};
use crate::account::{Account, AccountRole, CredentialHash, new_pseudonym};

const COLUMNS: &str = "a.name, a.role, a.developer, a.created_at, \
    (SELECT COUNT(*) FROM credentials c WHERE c.account = a.name)";

impl CollectStore {
    /// Creates an account, or gives an account without any a new credential: its rows stay its own.
    ///
    /// # Errors
    /// There is an account of this name with a credential, or with another role.
    pub fn add_account(
        &self,
        name: &str,
        role: AccountRole,
        credential: &CredentialHash,
    ) -> Result<Account, CollectStoreError> {
        let pseudonym = new_pseudonym()?;
        self.write(|connection| {
            match account(connection, name)? {
                Some(known) if known.is_active || known.role != role => {
                    return Err(CollectStoreError::AccountExists(name.to_owned()));
                }
                Some(_) => {}
                None => {
                    let values = [name.into(), role.name().into(), pseudonym.into(), now().into()];
                    connection.execute(
                        "INSERT INTO accounts (name, role, developer, created_at) VALUES ($1, $2, $3, $4)",
                        &values,
                    )?;
                }
            }
            let values = [credential.0.as_str().into(), name.into(), now().into()];
            let added = connection.execute(
                "INSERT INTO credentials (hash, account, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
                &values,
            )?;
            if added == 0 {
                return Err(CollectStoreError::CredentialTaken);
            }
            account(connection, name)?.ok_or_else(|| CollectStoreError::NoAccount(name.to_owned()))
        })
    }

    /// Removes the credentials of an account. Its rows stay.
    ///
    /// # Errors
    /// There is no such account.
    pub fn revoke(&self, name: &str) -> Result<Account, CollectStoreError> {
        self.write(|connection| {
            connection.execute("DELETE FROM credentials WHERE account = $1", &[name.into()])?;
            account(connection, name)?.ok_or_else(|| CollectStoreError::NoAccount(name.to_owned()))
        })
    }

    /// Returns the account of a credential.
    pub fn account_of(&self, credential: &CredentialHash) -> Result<Option<Account>, CollectStoreError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM accounts a JOIN credentials d ON d.account = a.name WHERE d.hash = $1"
            );
            let rows = connection.query(&sql, &[credential.0.as_str().into()])?;
            Ok(rows.first().and_then(of_row))
        })
    }

    /// Returns an account by its name.
    pub fn account(&self, name: &str) -> Result<Option<Account>, CollectStoreError> {
        self.read(|connection| account(connection, name))
    }

    /// Returns all accounts, by name.
    pub fn accounts(&self) -> Result<Vec<Account>, CollectStoreError> {
        self.read(|connection| {
            let rows = connection.query(&format!("SELECT {COLUMNS} FROM accounts a ORDER BY a.name"), &[])?;
            Ok(rows.iter().filter_map(of_row).collect())
        })
    }
}

pub(super) fn account(
    connection: &mut dyn SqlConnection,
    name: &str,
) -> Result<Option<Account>, CollectStoreError> {
    let rows =
        connection.query(&format!("SELECT {COLUMNS} FROM accounts a WHERE a.name = $1"), &[name.into()])?;
    Ok(rows.first().and_then(of_row))
}

fn of_row(row: &SqlRow) -> Option<Account> {
    Some(Account {
        name: row.text(0).to_owned(),
        role: AccountRole::from_name(row.text(1))?,
        developer: row.text(2).to_owned(),
        created_at: row.integer(3),
        is_active: row.integer(4) > 0,
    })
}
