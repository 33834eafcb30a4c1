//! Children of nodes by the names of their fields.
//!
//! Tree-sitter finds a field by comparing its name with all names of the grammar, which took a tenth of the time of an outline. Here each
//! name is looked up once per grammar and thread.

use std::cell::RefCell;
use std::num::NonZeroU16;

use rustc_hash::FxHashMap;
use tree_sitter::{Language, Node};

thread_local! {
    /// By grammar and the address of the name: a static text never changes.
    static FIELDS: RefCell<FxHashMap<(Language, *const str), Option<NonZeroU16>>> = RefCell::default();
}

/// Access to the fields of a node.
pub(crate) trait NodeFields<'tree> {
    /// Returns the first child in a field; `None` if the field is empty, or if the grammar has none of this name.
    fn child_in(&self, field: &'static str) -> Option<Node<'tree>>;
}

impl<'tree> NodeFields<'tree> for Node<'tree> {
    fn child_in(&self, field: &'static str) -> Option<Node<'tree>> {
        let language = self.language();
        let id = FIELDS.with_borrow_mut(|known| {
            let key = (language.clone(), std::ptr::from_ref(field));
            *known.entry(key).or_insert_with(|| language.field_id_for_name(field))
        });
        self.child_by_field_id(id?.get())
    }
}
