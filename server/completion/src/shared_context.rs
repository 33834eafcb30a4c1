//! The context of one question to several engines: engines that choose it in the same way get what one of them chose.
//!
//! ```text
//! leader    ──► chooses ──► keeps the context ──► has led
//! followers ──► wait until the leader has led ──► kept? ─┬─ yes ──► use it
//!                                                        └─ no ───► one chooses, the others wait for it
//! ```
//!
//! Responsible for choosing each context once. An engine that gets the context of another one is charged the time that choosing it took,
//! so that its latency is that of an engine asked alone. The leader must never wait for a follower, and no request gets context from files
//! that are hidden from it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use index::{FileIndex, RecentLocation, Strategy, TokenBudget};
use syntax::SyntaxCache;
use tokio::sync::OnceCell;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::path_gate::CheckedContext;

/// The contexts of one question: a text, a cursor and a workspace. Clones share them.
#[derive(Clone, Default)]
pub struct SharedContext(Arc<ContextsOfQuestion>);

#[derive(Default)]
struct ContextsOfQuestion {
    /// Cancelled when the leader has chosen its context, or will not choose any; not set without a leader.
    has_led: OnceLock<CancellationToken>,
    /// A handful: as many as ways of choosing.
    contexts: Mutex<Vec<(ContextKey, ContextCell)>>,
    /// The syntax of the document for the followers.
    syntax: OnceLock<SyntaxCache>,
}

type ContextCell = Arc<OnceCell<ChosenContext>>;

/// The inputs of a context besides the question.
#[derive(Clone)]
pub(crate) struct ContextKey {
    pub(crate) strategy: Strategy,
    pub(crate) budget: TokenBudget,
    pub(crate) hidden: Vec<Arc<str>>,
    /// The other documents with unsaved text.
    pub(crate) documents: Vec<Arc<FileIndex>>,
    pub(crate) recent_visits: Vec<RecentLocation>,
}

/// A chosen context.
#[derive(Clone)]
pub(crate) struct ChosenContext {
    pub(crate) context: CheckedContext,
    /// How long choosing it took.
    pub(crate) took: Duration,
}

/// The part of a request in a shared context.
#[derive(Clone)]
pub enum ContextShare {
    /// Chooses first, and waits for no other request.
    Leader(SharedContext),
    /// Uses what others chose.
    Follower(SharedContext),
}

impl SharedContext {
    /// Returns a guard for the leader. The followers wait until it is dropped, or until the leader has chosen.
    pub fn lead(&self) -> DropGuard {
        self.0.has_led.get_or_init(CancellationToken::new).clone().drop_guard()
    }

    /// Waits until the leader, if there is one, has chosen its context, but not longer than `patience`.
    pub async fn when_led(&self, patience: Duration) {
        let Some(has_led) = self.0.has_led.get() else { return };
        // A follower that has waited long enough chooses by itself.
        let _ = tokio::time::timeout(patience, has_led.cancelled()).await;
    }

    /// Returns the document's syntax for followers: what `document` knows at the first call. It shares no lock with `document`, so the
    /// leader waits for no follower.
    pub fn syntax(&self, document: &SyntaxCache) -> SyntaxCache {
        self.0.syntax.get_or_init(|| document.fork()).clone()
    }

    fn cell(&self, key: ContextKey) -> ContextCell {
        let mut contexts = self.0.contexts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = contexts.iter().find(|(known, _)| known.is_same(&key)) {
            return Arc::clone(known);
        }
        let cell = ContextCell::default();
        contexts.push((key, Arc::clone(&cell)));
        cell
    }
}

impl ContextKey {
    fn is_same(&self, other: &ContextKey) -> bool {
        let is_same_document = |(one, other)| Arc::ptr_eq(one, other);
        (self.strategy, self.budget) == (other.strategy, other.budget)
            && self.hidden == other.hidden
            && self.recent_visits == other.recent_visits
            && self.documents.len() == other.documents.len()
            && self.documents.iter().zip(&other.documents).all(is_same_document)
    }
}

impl ContextShare {
    /// Returns a guard for the leader, which is dropped when the request has chosen its context.
    pub(crate) fn lead(&self) -> Option<DropGuard> {
        match self {
            ContextShare::Leader(shared) => Some(shared.lead()),
            ContextShare::Follower(_) => None,
        }
    }

    /// Returns the context of this key: the kept one, or that of `choosing`. `None` if choosing it failed.
    pub(crate) async fn context(
        &self,
        key: ContextKey,
        choosing: impl Future<Output = Option<CheckedContext>>,
    ) -> Option<ChosenContext> {
        let choosing = async {
            let start = Instant::now();
            let context = choosing.await.ok_or(())?;
            Ok::<_, ()>(ChosenContext { context, took: start.elapsed() })
        };
        match self {
            ContextShare::Leader(shared) => {
                let cell = shared.cell(key);
                let chosen = choosing.await.ok()?;
                // It is set already if a follower ran out of patience.
                let _ = cell.set(chosen.clone());
                Some(chosen)
            }
            ContextShare::Follower(shared) => {
                shared.cell(key).get_or_try_init(|| choosing).await.ok().cloned()
            }
        }
    }

    /// Returns whether the request is charged the time that choosing took, instead of the time that it waited.
    pub(crate) fn is_charged(&self) -> bool {
        matches!(self, ContextShare::Follower(_))
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use engines::{ScriptedEngine, ScriptedReply};
    use index::Index;
    use syntax::{Language, SourceFile};
    use tokio::time::timeout;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::{CompletionSettings, DocumentText, Outcome, WorkspaceIndex, complete};

    const TEXT: &str = "from widgets import make_widget\n\nwidget = make_widget";

    fn workspace() -> WorkspaceIndex {
        let defined = SourceFile {
            path: "widgets.py".into(),
            language: Language::Python,
            text: "def make_widget(size):\n    return size\n".into(),
        };
        let files: Arc<[SourceFile]> = [defined].into();
        WorkspaceIndex::empty().with_index(files.clone(), Index::build(&files), Arc::default())
    }

    async fn ask(
        workspace: &WorkspaceIndex,
        share: ContextShare,
        settings: &CompletionSettings,
        hidden: Vec<Arc<str>>,
    ) -> Outcome {
        let document = DocumentText { path: "main.py".into(), language: Language::Python, text: TEXT.into() };
        let (ContextShare::Leader(shared) | ContextShare::Follower(shared)) = &share;
        let syntax = shared.syntax(&SyntaxCache::default());
        let snapshot = workspace.snapshot(document).with_syntax(syntax).without_files(hidden);
        let rule = ScriptedReply { context: true, ..ScriptedReply::default() };
        let engine = ScriptedEngine::with_rules("names its context", vec![rule]);
        let snapshot = snapshot.with_context_share(share);
        complete(&snapshot, TEXT.len(), &engine, settings, &CancellationToken::new()).await
    }

    /// Counts of the process: nextest runs each test in its own.
    #[tokio::test]
    async fn requests_of_one_question_choose_the_same_context_once() {
        let (workspace, shared) = (workspace(), SharedContext::default());
        let settings = CompletionSettings::for_editor();
        let larger = CompletionSettings { budget: TokenBudget { tokens: 4096 }, ..settings.clone() };
        let before = syntax::parse_counts().parses;
        let leader = ask(&workspace, ContextShare::Leader(shared.clone()), &settings, Vec::new()).await;
        shared.when_led(Duration::MAX).await;
        let follower =
            |settings, hidden| ask(&workspace, ContextShare::Follower(shared.clone()), settings, hidden);
        let (one, other, third, hiding) = tokio::join!(
            follower(&settings, Vec::new()),
            follower(&larger, Vec::new()),
            follower(&larger, Vec::new()),
            follower(&settings, vec!["widgets.py".into()]),
        );
        for outcome in [&leader, &one, &other, &third] {
            assert_eq!(outcome.text, "context=widgets.py");
        }
        assert_eq!(hiding.text, "context=", "no context comes from a file that is hidden from the request");
        assert_eq!(index::retrieval_count(), 3, "one for each budget, and one for the hidden file");
        assert_eq!(syntax::parse_counts().parses - before, 1, "the document is parsed once");
    }

    #[tokio::test]
    async fn a_follower_is_charged_what_choosing_took() {
        let shared = SharedContext::default();
        let key = ContextKey {
            strategy: Strategy::Hybrid,
            budget: TokenBudget { tokens: 1 },
            hidden: Vec::new(),
            documents: Vec::new(),
            recent_visits: Vec::new(),
        };
        let leader = ContextShare::Leader(shared.clone());
        let slow = async {
            std::thread::sleep(Duration::from_millis(2));
            Some(CheckedContext::default())
        };
        let chosen = leader.context(key.clone(), slow).await.expect("it is chosen");
        let follower = ContextShare::Follower(shared);
        let kept = follower.context(key, pending()).await.expect("it is kept");
        assert!(kept.took == chosen.took && kept.took >= Duration::from_millis(2));
        assert!(follower.is_charged() && !leader.is_charged());
    }

    #[tokio::test]
    async fn followers_wait_for_the_leader_and_the_leader_never_waits() {
        let (workspace, shared) = (workspace(), SharedContext::default());
        let settings = CompletionSettings::for_editor();
        let leading = shared.lead();
        let waiting = shared.clone();
        let follower = tokio::spawn(async move { waiting.when_led(Duration::MAX).await });
        // A follower that ran out of patience never ends.
        let document = DocumentText { path: "main.py".into(), language: Language::Python, text: TEXT.into() };
        let key = workspace.snapshot(document).context_key(&settings, &[]);
        let stuck = ContextShare::Follower(shared.clone());
        let stuck = tokio::spawn(async move { stuck.context(key, pending()).await.is_some() });
        tokio::task::yield_now().await;
        let leader = ask(&workspace, ContextShare::Leader(shared.clone()), &settings, Vec::new());
        let leader = timeout(Duration::from_secs(60), leader).await.expect("it waits for no follower");
        assert_eq!(leader.text, "context=widgets.py");
        follower.await.expect("the leader has chosen, though its guard is there");
        drop(leading);
        stuck.abort();
    }

    #[tokio::test]
    async fn no_follower_waits_without_a_leader() {
        let shared = SharedContext::default();
        shared.when_led(Duration::MAX).await;
        let leading = shared.lead();
        assert!(timeout(Duration::ZERO, shared.when_led(Duration::MAX)).await.is_err());
        drop(leading);
        shared.when_led(Duration::MAX).await;
    }
}
