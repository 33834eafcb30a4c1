//! The tables, and the views for dashboards.

use super::sql::{SqlConnection, SqlError};

/// The steps from an empty database to the newest version. Never change a step; append one.
const MIGRATIONS: [&str; 1] = ["
    CREATE TABLE accounts (
        name TEXT NOT NULL PRIMARY KEY,
        role TEXT NOT NULL,
        developer TEXT NOT NULL UNIQUE,
        created_at BIGINT NOT NULL
    );
    CREATE TABLE credentials (
        hash TEXT NOT NULL PRIMARY KEY,
        account TEXT NOT NULL,
        created_at BIGINT NOT NULL
    );
    CREATE TABLE opportunities (
        id TEXT NOT NULL PRIMARY KEY,
        number BIGINT NOT NULL UNIQUE,
        account TEXT NOT NULL,
        developer TEXT NOT NULL,
        repository TEXT NOT NULL,
        licences TEXT NOT NULL,
        exported_at BIGINT NOT NULL,
        opened_at BIGINT NOT NULL,
        trial TEXT,
        mode TEXT NOT NULL,
        language TEXT NOT NULL,
        privacy TEXT NOT NULL,
        exposure TEXT NOT NULL,
        outcome TEXT NOT NULL,
        scenario TEXT,
        accepted_chars BIGINT NOT NULL,
        secrets BIGINT NOT NULL,
        hash TEXT NOT NULL,
        body BYTEA NOT NULL
    );
    CREATE INDEX opportunities_by_time ON opportunities (opened_at);
    CREATE INDEX opportunities_by_account ON opportunities (account);
    CREATE INDEX opportunities_by_developer ON opportunities (developer);
    CREATE TABLE answers (
        opportunity TEXT NOT NULL,
        position BIGINT NOT NULL,
        arm TEXT NOT NULL,
        model TEXT NOT NULL,
        role TEXT NOT NULL,
        status TEXT NOT NULL,
        total_ms DOUBLE PRECISION NOT NULL,
        first_ms DOUBLE PRECISION,
        exact_match DOUBLE PRECISION,
        edit_similarity DOUBLE PRECISION,
        cost DOUBLE PRECISION,
        PRIMARY KEY (opportunity, position)
    );
    CREATE TABLE telemetry (
        id TEXT NOT NULL PRIMARY KEY,
        account TEXT NOT NULL,
        developer TEXT NOT NULL,
        at BIGINT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        body TEXT NOT NULL
    );
    CREATE INDEX telemetry_by_account ON telemetry (account);
    CREATE TABLE uploads (
        account TEXT NOT NULL,
        digest TEXT NOT NULL,
        at BIGINT NOT NULL,
        repository TEXT NOT NULL,
        datasheet TEXT NOT NULL,
        receipt TEXT NOT NULL,
        PRIMARY KEY (account, digest)
    );
    CREATE TABLE forgotten (
        account TEXT NOT NULL,
        repository TEXT NOT NULL,
        at BIGINT NOT NULL,
        PRIMARY KEY (account, repository)
    );
    CREATE TABLE copies (
        name TEXT NOT NULL PRIMARY KEY,
        cursor BIGINT NOT NULL,
        deletions BIGINT NOT NULL,
        synced_at BIGINT NOT NULL
    );
    CREATE TABLE audit (
        number BIGINT NOT NULL PRIMARY KEY,
        at BIGINT NOT NULL,
        actor TEXT NOT NULL,
        action TEXT NOT NULL,
        subject TEXT NOT NULL,
        detail TEXT NOT NULL
    );
    CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, value BIGINT NOT NULL);
    INSERT INTO counters (name, value) VALUES ('rows', 0), ('deletions', 0), ('audit', 0);
"];

/// Views for Grafana, in PostgreSQL only: `at` is a column of time, and no view shows code or names of accounts.
#[cfg(feature = "postgres")]
pub(super) const VIEWS: &str = include_str!("views.sql");

/// The newest version that this build knows.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Returns the version of the database; 0 if it is empty.
pub(super) fn version(connection: &mut dyn SqlConnection) -> Result<i64, SqlError> {
    connection.batch("CREATE TABLE IF NOT EXISTS ghostbench_schema (version BIGINT NOT NULL)")?;
    let rows = connection.query("SELECT MAX(version) FROM ghostbench_schema", &[])?;
    Ok(rows.first().map_or(0, |row| row.integer(0)))
}

/// Applies the missing steps. The caller has begun a transaction that no other process shares.
pub(super) fn migrate(connection: &mut dyn SqlConnection, version: i64) -> Result<(), SqlError> {
    for (step, number) in MIGRATIONS.iter().zip(1_i64..).filter(|(_, number)| *number > version) {
        connection.batch(step)?;
        connection.execute("INSERT INTO ghostbench_schema (version) VALUES ($1)", &[number.into()])?;
    }
    Ok(())
}
