//! The writer's thread: one transaction for each row, patience with locks, and the end of recording if nothing helps.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant, SystemTime};

use cases::{Opportunity, PrivacyLevel};

use super::database::{Database, set_aside};
use super::error::{ErrorCategory, StoreError, category};
use super::rows::WriteResult;
use super::{StoreSettings, StoreState, limits, rows};
use crate::privacy;

/// Rows between two checks of age and size: often enough for a limit, and rare enough to cost nothing.
const ROWS_BETWEEN_CHECKS: u64 = 500;

/// How long one attempt waits for a lock.
const LOCK_TIMEOUT: Duration = Duration::from_millis(250);

/// A message to the writer.
#[derive(Debug)]
pub(super) enum Command {
    /// Write a row.
    Put(Box<Opportunity>),
    /// Report that all rows before it are written.
    Flush(SyncSender<()>),
}

/// The state of the thread.
pub(super) struct Writer {
    database: Database,
    settings: StoreSettings,
    shared: Arc<StoreState>,
    rows_since_check: u64,
}

impl Writer {
    pub(super) fn new(database: Database, settings: StoreSettings, shared: Arc<StoreState>) -> Writer {
        let writer = Writer { database, settings, shared, rows_since_check: 0 };
        writer.wait_briefly();
        writer
    }

    /// Limits how long one call waits for another process: the writer retries, and can be stopped in between.
    fn wait_briefly(&self) {
        // The call cannot fail for an open connection.
        let _ = self.database.connection.busy_timeout(LOCK_TIMEOUT.min(self.settings.patience));
    }

    /// Handles messages until the store is dropped.
    pub(super) fn run(mut self, receiver: &Receiver<Command>) {
        self.apply_limits();
        while let Ok(command) = receiver.recv() {
            match command {
                Command::Put(opportunity) => self.put(*opportunity),
                // A caller that no longer waits has dropped its end.
                Command::Flush(done) => drop(done.try_send(())),
            }
        }
    }

    fn put(&mut self, mut opportunity: Opportunity) {
        if self.shared.is_off() || !rows::is_storable(&opportunity) {
            self.shared.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // The path of a row at a lower level is a hash already: a row that is written again keeps the places of its path.
        let is_path = opportunity.privacy == PrivacyLevel::Full;
        let places = self.settings.key.places(&opportunity.cursor.path);
        let places = rows::Places { hashes: &places, is_path };
        privacy::apply(&mut opportunity, self.settings.level, &self.settings.key);
        match self.with_patience(|database| rows::put(&mut database.connection, opportunity.clone(), places))
        {
            Ok(WriteResult::Forgotten) => {
                self.shared.forgotten.fetch_add(1, Ordering::Relaxed);
            }
            Ok(WriteResult::Stored) => {
                self.shared.written.fetch_add(1, Ordering::Relaxed);
                self.rows_since_check += 1;
                if self.rows_since_check >= ROWS_BETWEEN_CHECKS {
                    self.rows_since_check = 0;
                    self.apply_limits();
                }
            }
            Err(error) => {
                self.shared.dropped.fetch_add(1, Ordering::Relaxed);
                self.shared.turn_off(format!("recording of opportunities is off: {error}"));
            }
        }
    }

    /// Repeats a step while another process locks the store, and once in a new store if this one is damaged.
    fn with_patience<T>(
        &mut self,
        mut step: impl FnMut(&mut Database) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let start = Instant::now();
        let mut is_new = false;
        loop {
            let error = match step(&mut self.database) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let path = self.database.path().to_owned();
            match category(&error) {
                ErrorCategory::Locked if self.may_wait(start) => {}
                ErrorCategory::Corrupt if !is_new => {
                    is_new = true;
                    set_aside(&path)?;
                    self.database = Database::open(&path)?;
                    self.wait_briefly();
                }
                _ => return Err(StoreError::of(&path, error, start.elapsed())),
            }
        }
    }

    fn may_wait(&self, start: Instant) -> bool {
        start.elapsed() < self.settings.patience && !self.shared.is_closing.load(Ordering::Acquire)
    }

    /// Deletes what is too old or too much. A failure is no reason to stop recording: the next check repeats it.
    fn apply_limits(&mut self) {
        let _ = limits::apply(&mut self.database, &self.settings, SystemTime::now());
    }
}
