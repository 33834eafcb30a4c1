//! Random edits, against a slow replay of whole texts, and against a recorder that began later.

use proptest::prelude::*;

use super::*;

/// The text before, in and behind a region, as three strings: the slow definition of what was written at a cursor.
#[derive(Clone)]
struct SlowRegion {
    before: String,
    region: String,
    after: String,
    lost_prefix: String,
    lost_suffix: String,
    /// The state before the last deletions, if nothing else was edited since, with their place and text.
    undeleted: Option<(Box<SlowRegion>, usize, String)>,
}

impl SlowRegion {
    fn new(text: &str, cursor: usize) -> SlowRegion {
        SlowRegion {
            before: text[..cursor].to_owned(),
            region: String::new(),
            after: text[cursor..].to_owned(),
            lost_prefix: String::new(),
            lost_suffix: String::new(),
            undeleted: None,
        }
    }

    fn text(&self) -> String {
        [&*self.before, &self.region, &self.after].concat()
    }

    /// Replaces a range of the text; the region grows by the difference if that touches it.
    fn edit(&mut self, range: Range<usize>, text: &str) {
        let old = self.text();
        let Some(Edit { range: part, text: inserted }) = Edit::between(&old[range.clone()], text) else {
            return;
        };
        let range = range.start + part.start..range.start + part.end;
        let text = [&old[..range.start], &inserted, &old[range.end..]].concat();
        let (start, end) = (self.before.len(), self.before.len() + self.region.len());
        let undeleted = self.undeleted.take();
        let is_touched = range.start <= end && start <= range.end;
        if is_touched && inserted.is_empty() {
            let removed = &old[range.clone()];
            let is_next_to = |place: usize| place == range.start || place == range.end;
            self.undeleted = Some(match undeleted.filter(|(_, place, _)| is_next_to(*place)) {
                Some((state, place, text)) if place == range.end => {
                    (state, range.start, [removed, &*text].concat())
                }
                Some((state, _, text)) => (state, range.start, [&*text, removed].concat()),
                None => (Box::new(self.clone()), range.start, removed.to_owned()),
            });
        } else if let Some((state, place, text)) = undeleted
            && is_touched
            && range == (place..place)
            && inserted == text
            && text.len() > 1
        {
            *self = *state;
            return;
        }
        if range.end < start {
            self.before.replace_range(range, &inserted);
        } else if range.start > end {
            self.after.replace_range(range.start - end..range.end - end, &inserted);
        } else {
            let tail = old.len() - range.end.max(end);
            let head = range.start.min(start);
            self.lost_prefix.insert_str(0, &self.before[head..]);
            self.lost_suffix.push_str(&self.after[..self.after.len() - tail]);
            self.before.truncate(head);
            self.after = old[old.len() - tail..].to_owned();
            self.region = text[head..text.len() - tail].to_owned();
        }
    }

    /// Returns the text at the cursor, and the removed text before and after it.
    fn written(&self) -> (String, String, String) {
        match self.region.strip_prefix(&*self.lost_prefix) {
            None => {
                let kept =
                    self.region.bytes().zip(self.lost_prefix.bytes()).take_while(|(a, b)| a == b).count();
                (String::new(), self.lost_prefix[kept..].to_owned(), self.lost_suffix.clone())
            }
            Some(written) => {
                let pairs = written.bytes().rev().zip(self.lost_suffix.bytes().rev());
                let kept = pairs.take_while(|(a, b)| a == b).count();
                let removed = self.lost_suffix[..self.lost_suffix.len() - kept].to_owned();
                (written[..written.len() - kept].to_owned(), String::new(), removed)
            }
        }
    }
}

/// A place in thousandths of the text, the number of removed bytes, and the new text.
fn edits() -> impl Strategy<Value = Vec<(usize, usize, String)>> {
    proptest::collection::vec((0..1_000usize, 0..4usize, "[abc(\n]{0,6}"), 1..24)
}

/// Returns a range on one line.
fn range(text: &str, place: usize, length: usize) -> Range<usize> {
    let start = text.len() * place / 1_000;
    let rest = text[start..].split('\n').next().unwrap_or_default();
    start..start + length.min(rest.len())
}

proptest! {
    #[test]
    fn the_truth_is_that_of_a_slow_replay(cursor in 0..13usize, edits in edits()) {
        let text = "aab\nbc(a)\ncab";
        let mut session = Session::new(None, text);
        let id = session.request(cursor);
        let mut slow = SlowRegion::new(text, cursor);
        for (place, length, inserted) in edits {
            session.time += 200;
            let range = range(&session.text, place, length);
            let code = |text: &str| text.replace(['\n', '('], "");
            if length > 0 && code(&session.text[range.clone()]) == code(&inserted) {
                // It would be formatting.
                continue;
            }
            session.edit(range.clone(), &inserted);
            slow.edit(range, &inserted);
            prop_assert_eq!(&slow.text(), &session.text);
        }
        session.wait(10_500);
        let truth = session.truth(&id, TruthStage::Settled);
        let (written, before, after) = slow.written();
        prop_assert_eq!(
            (&truth.text, &truth.region, &truth.deleted_before, &truth.deleted),
            (&written, if before.is_empty() { &written } else { &slow.region }, &before, &after)
        );
        let mut at = 0;
        for span in &truth.provenance {
            prop_assert_eq!(span.range.start, at);
            prop_assert!(truth.text.get(span.range.clone()).is_some_and(|part| !part.is_empty()));
            at = span.range.end;
        }
        prop_assert_eq!(at, truth.text.len());
    }

    /// A recorder that was busy before takes the same truths as one that begins with the request.
    #[test]
    fn a_long_session_records_as_a_fresh_one(earlier in edits(), later in edits(), cursor in 0..1_000usize) {
        let mut long = Session::python("def f(a):\n    b = (a)\n    c(b)\n\nx = 1\n");
        long.request(14);
        for (number, (place, length, inserted)) in earlier.into_iter().enumerate() {
            long.time += 200;
            let range = range(&long.text, place, length);
            long.edit(range.clone(), &inserted);
            if number % 4 == 0 {
                long.request(range.start);
                long.answer(&[("a", "abc")]);
            }
        }
        long.wait(5_000);
        let mut fresh = Session::python(&long.text);
        fresh.requests = long.requests;
        let offset = long.text.len() * cursor / 1_000;
        let id = long.request(offset);
        prop_assert_eq!(&fresh.request(offset), &id);
        for (place, length, inserted) in later {
            let range = range(&long.text, place, length);
            for session in [&mut long, &mut fresh] {
                session.time += 300;
                session.edit(range.clone(), &inserted);
            }
        }
        for session in [&mut long, &mut fresh] {
            session.wait(31_000);
            session.save();
        }
        let plain = |session: &Session| -> Vec<(TruthStage, String, String, String)> {
            let truths = session.row(&id).truths.iter();
            truths.map(|truth| (truth.stage, truth.text.clone(), truth.region.clone(), truth.deleted.clone())).collect()
        };
        prop_assert_eq!(plain(&long), plain(&fresh));
        prop_assert_eq!(long.row(&id).task, fresh.row(&id).task);
    }

    /// Whatever an editor sends: no panic, and rows whose parts fit together.
    #[test]
    fn nonsense_is_survived(events in proptest::collection::vec((0..16u8, 0..60usize, 0..60usize, "[a é\n()]{0,30}", any::<u32>()), 0..60)) {
        let mut session = Session::python("def f():\n    return é\n");
        for (kind, start, end, text, time) in events {
            session.time = u64::from(time);
            let document: DocumentKey = if start % 7 == 0 { "b".into() } else { "a".into() };
            match kind {
                0..=4 => session.send(EventKind::Edited { document, edits: vec![Edit { range: start..end, text }] }),
                5 | 6 => drop(session.request(start)),
                7 => session.answer(&[("a", &*text), ("b", "return 1\n    x")]),
                8 => session.save(),
                9 => session.send(EventKind::Closed { document }),
                10 => session.send(opened(&document, None, &text)),
                11 => session.send(EventKind::Renamed { from: "a".into(), to: "b".into() }),
                12 => session.send(EventKind::Accepted { item: start as u64, is_partial: end % 2 == 0 }),
                13 => session.send(EventKind::CursorMoved { document, offset: end }),
                14 => session.send(EventKind::Committed { files: vec![CommittedFile { document, text: text.into() }], age: end as u64 }),
                _ => session.send(EventKind::Tick),
            }
        }
        for row in session.rows.values() {
            for truth in &row.truths {
                let covered: usize = truth.provenance.iter().map(|span| span.range.len()).sum();
                prop_assert_eq!(covered, truth.text.len());
            }
        }
    }
}
