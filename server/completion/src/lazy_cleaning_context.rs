//! The text around the cursor, analyzed while the engine works.
//!
//! The analysis reads the tokens of the whole file, which takes longer than everything else before a request is sent. Only the
//! answer needs it.

use std::pin::pin;
use std::sync::OnceLock;
use std::time::Duration;

use crate::clean::CleaningContext;
use crate::workspace_index::DocumentSnapshot;

/// Time from the request to the analysis: sending and receiving it need the processor first if the engine runs on this machine.
const ANALYSIS_DELAY: Duration = Duration::from_millis(2);

/// The context of an answer's filters; analyzed on first use.
pub(crate) struct LazyCleaningContext<'a> {
    snapshot: &'a DocumentSnapshot,
    offset: usize,
    context: OnceLock<CleaningContext<'a>>,
}

impl<'a> LazyCleaningContext<'a> {
    /// For a cursor at byte `offset` of the document, which has passed the gate.
    pub(crate) fn new(snapshot: &'a DocumentSnapshot, offset: usize) -> LazyCleaningContext<'a> {
        LazyCleaningContext { snapshot, offset, context: OnceLock::new() }
    }

    /// Returns the context.
    pub(crate) fn get(&self) -> &CleaningContext<'a> {
        self.context.get_or_init(|| {
            let (prefix, suffix) = self.snapshot.text().split_at(self.offset);
            let (syntax, language) = (self.snapshot.syntax(), self.snapshot.document().language);
            CleaningContext::new(syntax, language, prefix, suffix)
        })
    }

    /// Returns the context by value.
    pub(crate) fn into_context(self) -> CleaningContext<'a> {
        self.get();
        self.context.into_inner().expect("it was analyzed")
    }

    /// Waits for an answer, and analyzes the text meanwhile.
    pub(crate) async fn analyze_during<T>(&self, answering: impl Future<Output = T>) -> T {
        let mut answering = pin!(answering);
        let analyzing = async {
            tokio::time::sleep(ANALYSIS_DELAY).await;
            self.get();
        };
        tokio::select! {
            biased;
            answer = &mut answering => return answer,
            () = analyzing => {}
        }
        answering.await
    }
}
