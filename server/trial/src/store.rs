//! The store: opportunities on disk, one SQLite file for each workspace.
//!
//! ```text
//! recorder --put--> bounded channel --> writer thread --> store.db <-- StoreReader, forget
//! ```
//!
//! Everything slow (privacy, secrets, compression, the disk) happens in the writer's thread; [`Store::put`], which only the recorder's
//! thread calls, waits for room in the queue, but not long. Each row is a transaction, so that a killed process loses at most the row in
//! flight. Several processes may write one store. A store that cannot be written turns recording off with one message; it never delays or
//! fails a completion. Nothing leaves the machine from here.
#![expect(
    clippy::disallowed_methods,
    reason = "the store is the part of this crate that has files and clocks"
)]

mod database;
mod error;
mod forget;
mod limits;
mod place;
mod reader;
mod rows;
mod session_lock;
mod texts;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cases::{Opportunity, PrivacyLevel};
use config::{Config, Privacy};

use self::database::Database;
use self::writer::{Command, Writer};

pub use self::error::StoreError;
pub use self::forget::{ForgetScope, ForgottenRows, forget};
pub use self::place::PlaceKey;
pub use self::reader::{DayCount, StoreFilter, StoreReader, StoredOpportunity, mark_reviewed};
pub use self::session_lock::{SessionLock, is_session_running};

/// Name of the store's file in its folder.
pub const STORE_FILE: &str = "store.db";

/// Rows that wait for the writer: a slow disk must not fill the memory.
const QUEUE_ROWS: usize = 256;

/// How long a row waits for room: longer than a full queue takes on a usual disk.
const ROOM_TIMEOUT: Duration = Duration::from_secs(2);

/// Time between two looks for room: shorter than writing a row.
const ROOM_CHECK: Duration = Duration::from_millis(1);

/// How long a flush waits for the writer; the writer needs milliseconds for a row.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(10);

/// Settings of a store.
#[derive(Clone, Debug)]
pub struct StoreSettings {
    /// How much of the code is stored. Rows that already have a lower level keep it.
    pub level: PrivacyLevel,
    /// The secret key of this machine, for renamed words and hashed paths.
    pub key: PlaceKey,
    /// Age at which rows are deleted.
    pub keep: Duration,
    /// Size of the file, in bytes, above which the oldest rows are deleted.
    pub max_bytes: u64,
    /// How long the writer retries while another process locks the store; afterwards recording is off.
    pub patience: Duration,
}

impl StoreSettings {
    /// Returns the settings that apply to a workspace; `None` if nothing is to be recorded.
    pub fn from_config(config: &Config, key: PlaceKey) -> Option<StoreSettings> {
        let level = match config.record.privacy {
            Privacy::Full => PrivacyLevel::Full,
            Privacy::Structure => PrivacyLevel::Structure,
            Privacy::Metrics => PrivacyLevel::Metrics,
            Privacy::Off => return None,
        };
        Some(StoreSettings {
            keep: Duration::from_secs(u64::from(config.trial.keep_days) * 24 * 60 * 60),
            max_bytes: u64::from(config.trial.max_mb) << 20,
            ..StoreSettings::new(level, key)
        })
    }

    /// Returns the default settings at a level.
    pub fn new(level: PrivacyLevel, key: PlaceKey) -> StoreSettings {
        StoreSettings {
            level,
            key,
            keep: Duration::from_secs(180 * 24 * 60 * 60),
            max_bytes: 512 << 20,
            patience: Duration::from_secs(60),
        }
    }
}

/// Whether opportunities are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreHealth {
    /// They are.
    Recording,
    /// They are not, for this reason. It stays off until the store is opened again.
    Off {
        /// The problem and its remedy, for people.
        message: String,
    },
}

/// Numbers of rows since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreCounts {
    /// Rows that were written; a row that is written again counts again.
    pub written: u64,
    /// Rows that were lost: the queue was full, the row was too large, or recording is off.
    pub dropped: u64,
    /// Rows that were refused because the user has forgotten them.
    pub forgotten: u64,
}

/// The writing end of a store. Dropping it writes the rows that wait.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    sender: Option<SyncSender<Command>>,
    shared: Arc<StoreState>,
    writer: Option<JoinHandle<()>>,
}

/// State that the writer shares with its store.
#[derive(Debug)]
struct StoreState {
    health: Mutex<StoreHealth>,
    is_message_new: AtomicBool,
    is_closing: AtomicBool,
    /// Whether the last row found no room.
    is_stuck: AtomicBool,
    written: AtomicU64,
    dropped: AtomicU64,
    forgotten: AtomicU64,
}

impl StoreState {
    fn turn_off(&self, message: String) {
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        if *health == StoreHealth::Recording {
            *health = StoreHealth::Off { message };
            self.is_message_new.store(true, Ordering::Release);
        }
    }

    fn is_off(&self) -> bool {
        *self.health.lock().unwrap_or_else(PoisonError::into_inner) != StoreHealth::Recording
    }
}

impl Store {
    /// Opens the store in `folder`, which is created if it is missing, and updates its format. A corrupt file is set aside under another
    /// name.
    ///
    /// # Errors
    /// The folder or file cannot be written, another process locks it, it is of a newer version, or no store.
    pub fn open(folder: &Path, settings: &StoreSettings) -> Result<Store, StoreError> {
        private_files::own_folder(folder)
            .map_err(|reason| StoreError::Folder { path: folder.to_owned(), reason })?;
        let database = Database::open(&folder.join(STORE_FILE))?;
        let shared = Arc::new(StoreState {
            health: Mutex::new(StoreHealth::Recording),
            is_message_new: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            is_stuck: AtomicBool::new(false),
            written: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            forgotten: AtomicU64::new(0),
        });
        let (sender, receiver) = mpsc::sync_channel(QUEUE_ROWS);
        let path = database.path().to_owned();
        let writer = Writer::new(database, settings.clone(), Arc::clone(&shared));
        let thread = thread::Builder::new().name("trial-store".to_owned());
        let thread = thread
            .spawn(move || writer.run(&receiver))
            .map_err(|reason| StoreError::Folder { path: folder.to_owned(), reason })?;
        Ok(Store { path, sender: Some(sender), shared, writer: Some(thread) })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Passes a row to the writer. A row with the same id is replaced. If too many rows wait, as after closing a document with many
    /// opportunities, waits for room, at most two seconds; then the row is dropped and counted. While the writer is stuck, no further
    /// row waits.
    pub fn put(&self, opportunity: Opportunity) {
        let mut command = Command::Put(Box::new(opportunity));
        let start = Instant::now();
        let is_stuck = || self.shared.is_stuck.load(Ordering::Relaxed) || start.elapsed() >= ROOM_TIMEOUT;
        while let Some(sender) = &self.sender {
            match sender.try_send(command) {
                Ok(()) => return self.shared.is_stuck.store(false, Ordering::Relaxed),
                Err(TrySendError::Full(waiting)) if !is_stuck() => {
                    command = waiting;
                    thread::sleep(ROOM_CHECK);
                }
                Err(_) => break,
            }
        }
        self.shared.is_stuck.store(true, Ordering::Relaxed);
        self.shared.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits until all rows that were passed before are written or dropped, at most ten seconds. Returns whether they are.
    pub fn flush(&self) -> bool {
        let (done, is_done) = mpsc::sync_channel(1);
        let sent = self.sender.as_ref().is_some_and(|sender| sender.send(Command::Flush(done)).is_ok());
        sent && is_done.recv_timeout(FLUSH_TIMEOUT).is_ok()
    }

    /// Returns whether rows are recorded.
    pub fn health(&self) -> StoreHealth {
        self.shared.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the message of the problem that turned recording off, once.
    pub fn take_message(&self) -> Option<String> {
        if !self.shared.is_message_new.swap(false, Ordering::AcqRel) {
            return None;
        }
        match self.health() {
            StoreHealth::Off { message } => Some(message),
            StoreHealth::Recording => None,
        }
    }

    /// Returns the numbers of rows since the store was opened.
    pub fn counts(&self) -> StoreCounts {
        StoreCounts {
            written: self.shared.written.load(Ordering::Relaxed),
            dropped: self.shared.dropped.load(Ordering::Relaxed),
            forgotten: self.shared.forgotten.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // The writer ends when the channel is closed and empty, and no longer waits for locks of other processes.
        self.shared.is_closing.store(true, Ordering::Release);
        drop(self.sender.take());
        if let Some(writer) = self.writer.take() {
            // A panic of the writer was printed by its thread; there is nothing left to write.
            drop(writer.join());
        }
    }
}
