//! Stands in for `item.rs` until it is there.
#![allow(missing_docs, unreachable_pub)]
pub mod item {
    use std::ops::Range;
    pub struct Popup {
        pub range: Range<usize>,
        pub text: String,
    }
    impl Popup {
        pub fn at(_t: &str, _c: usize, range: Range<usize>, text: &str) -> Option<Popup> {
            Some(Popup { range, text: text.to_owned() })
        }
    }
    pub struct Item {
        pub range: Range<usize>,
        pub text: String,
    }
    pub fn with_popup(text: &str, popup: &Popup) -> (String, usize) {
        let mut t = text.to_owned();
        t.replace_range(popup.range.clone(), &popup.text);
        (t, popup.range.start + popup.text.len())
    }
    pub fn item(_text: &str, cursor: usize, insert: &str, popup: Option<&Popup>) -> Item {
        match popup {
            Some(p) => Item { range: p.range.clone(), text: format!("{}{insert}", p.text) },
            None => Item { range: cursor..cursor, text: insert.to_owned() },
        }
    }
}
