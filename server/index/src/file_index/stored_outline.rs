//! The outline of a file: encoded, so that each part can be decoded alone.
//!
//! ```text
//! number of definitions | an entry for each | imports, namespaces, extensions | definitions
//! ```
//!
//! Numbers in entries have the machine's byte order, as all arrays in a store.
//!
//! A query follows the imports of hundreds of files and searches their definitions, of which it reads few: the entries are searched
//! without decoding. Whole outlines would take several times the memory of their encoded form.

use std::sync::{Arc, LazyLock};

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};
use stored::PodArray;
use syntax::{Definition, DefinitionKind, Extension, Import, Outline};

/// An outline that can move to a store.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StoredOutline {
    pub(super) encoded: PodArray<u8>,
}

/// Everything but the definitions.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct OutlineHead {
    pub(super) imports: Vec<Import>,
    pub(super) namespaces: Vec<Box<str>>,
    pub(super) extensions: Vec<Extension>,
}

/// The properties of a definition by which its file is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DefinitionShape {
    pub(crate) kind: DefinitionKind,
    /// Start of the whole definition, in bytes.
    pub(crate) start: u32,
    /// [`Definition::line`].
    pub(crate) line: u32,
    /// [`Definition::container`].
    pub(crate) container: Option<u32>,
    /// Whether it has a [`Definition::owner`].
    pub(crate) has_owner: bool,
}

/// A definition in the encoded outline: its shape, and where the rest is.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct DefinitionEntry {
    /// Offset of the definition in the encoded outline.
    offset: u32,
    start: u32,
    line: u32,
    /// [`NO_CONTAINER`] if there is none.
    container: u32,
    /// Position in [`KINDS`].
    kind: u8,
    has_owner: u8,
    padding: [u8; 2],
}

const NO_CONTAINER: u32 = u32::MAX;
const KINDS: [DefinitionKind; 7] = [
    DefinitionKind::Type,
    DefinitionKind::Module,
    DefinitionKind::Function,
    DefinitionKind::Method,
    DefinitionKind::Constructor,
    DefinitionKind::Field,
    DefinitionKind::Constant,
];

/// Sizes of the number of definitions, and of an entry.
const COUNT_BYTES: usize = size_of::<u32>();
const ENTRY_BYTES: usize = size_of::<DefinitionEntry>();

/// Returned instead of a definition that cannot be decoded.
pub(super) static MISSING: LazyLock<Definition> =
    LazyLock::new(|| Definition::new("", DefinitionKind::Constant));

impl DefinitionShape {
    pub(crate) fn of(definition: &Definition) -> DefinitionShape {
        DefinitionShape {
            kind: definition.kind,
            start: definition.range.start,
            line: definition.line,
            container: definition.container,
            has_owner: definition.owner.is_some(),
        }
    }

    fn entry(self, offset: u32) -> DefinitionEntry {
        let DefinitionShape { kind, start, line, container, has_owner } = self;
        let kind = KINDS.iter().position(|known| *known == kind).expect("all kinds are listed");
        DefinitionEntry {
            offset,
            start,
            line,
            container: container.unwrap_or(NO_CONTAINER),
            kind: kind as u8,
            has_owner: has_owner.into(),
            padding: [0; 2],
        }
    }
}

impl DefinitionEntry {
    /// Returns the shape; that of a missing definition if the bytes are invalid.
    fn shape(self) -> DefinitionShape {
        let Some(&kind) = KINDS.get(usize::from(self.kind)) else { return DefinitionShape::of(&MISSING) };
        DefinitionShape {
            kind,
            start: self.start,
            line: self.line,
            container: Some(self.container).filter(|&container| container != NO_CONTAINER),
            has_owner: self.has_owner != 0,
        }
    }
}

impl From<Outline> for StoredOutline {
    fn from(outline: Outline) -> StoredOutline {
        let Outline { definitions, imports, namespaces, extensions } = outline;
        let entries_end = COUNT_BYTES + definitions.len() * ENTRY_BYTES;
        let mut encoded = (definitions.len() as u32).to_ne_bytes().to_vec();
        encoded.resize(entries_end, 0);
        encoded = write(&OutlineHead { imports, namespaces, extensions }, encoded);
        let mut entries = Vec::new();
        for definition in &definitions {
            entries.push(DefinitionShape::of(definition).entry(encoded.len() as u32));
            encoded = write(&**definition, encoded);
        }
        encoded[COUNT_BYTES..entries_end].copy_from_slice(bytemuck::cast_slice(&entries));
        StoredOutline::new(encoded.into())
    }
}

/// Appends a value to `bytes`.
fn write(value: &impl Serialize, bytes: Vec<u8>) -> Vec<u8> {
    postcard::to_extend(value, bytes).expect("an outline has nothing that cannot be written")
}

impl StoredOutline {
    /// Creates an outline of bytes that this version has written.
    pub(super) fn new(encoded: PodArray<u8>) -> StoredOutline {
        StoredOutline { encoded }
    }

    /// Returns the outline with these bytes if they are valid and `is_sound` says so.
    pub(super) fn from_bytes(bytes: &[u8], is_sound: impl FnOnce(&Outline) -> bool) -> Option<StoredOutline> {
        let stored = StoredOutline::new(bytes.to_vec().into());
        is_sound(&stored.decode()?).then_some(stored)
    }

    /// Returns the number of definitions.
    pub(super) fn definition_count(&self) -> usize {
        self.entries().len()
    }

    /// Returns the shapes of all definitions, without decoding one.
    pub(super) fn shapes(&self) -> impl Iterator<Item = DefinitionShape> {
        self.entries().iter().map(|entry| entry_at(entry).shape())
    }

    /// Returns the shape of a definition, without decoding it.
    pub(super) fn shape(&self, position: u32) -> DefinitionShape {
        let entry = self.entries().get(position as usize);
        entry.map_or_else(|| DefinitionShape::of(&MISSING), |entry| entry_at(entry).shape())
    }

    /// Returns the name of a definition, without decoding the rest of it.
    pub(super) fn name(&self, position: u32) -> &str {
        // The name is the first field.
        self.body(position).and_then(|body| postcard::take_from_bytes(body).ok()).map_or("", |(name, _)| name)
    }

    /// Decodes a definition. It is empty if there is none, or if its bytes are invalid.
    pub(super) fn decode_definition(&self, position: u32) -> Definition {
        let decoded = self.body(position).and_then(|body| postcard::take_from_bytes(body).ok());
        decoded.map_or_else(|| MISSING.clone(), |(definition, _)| definition)
    }

    /// Decodes everything but the definitions; empty if the bytes are invalid.
    pub(super) fn read_head(&self) -> OutlineHead {
        self.decode_head().map(|(head, _)| head).unwrap_or_default()
    }

    /// Decodes the whole outline; empty if the bytes are invalid.
    pub(super) fn read(&self) -> Outline {
        self.decode().unwrap_or_default()
    }

    /// Returns the bytes of the entries; none if the bytes are invalid. The bytes have any alignment.
    fn entries(&self) -> &[[u8; ENTRY_BYTES]] {
        let all = || {
            let (count, rest) = self.encoded.split_first_chunk::<COUNT_BYTES>()?;
            rest.as_chunks().0.get(..u32::from_ne_bytes(*count) as usize)
        };
        all().unwrap_or_default()
    }

    /// Returns the bytes from the beginning of a definition on.
    fn body(&self, position: u32) -> Option<&[u8]> {
        let entry = entry_at(self.entries().get(position as usize)?);
        self.encoded.get(entry.offset as usize..)
    }

    /// Decodes the head, and returns it with the bytes behind it.
    fn decode_head(&self) -> Option<(OutlineHead, &[u8])> {
        let entries = self.entries();
        postcard::take_from_bytes(self.encoded.get(COUNT_BYTES + size_of_val(entries)..)?).ok()
    }

    /// Decodes everything; `None` if the bytes are not those of an outline.
    fn decode(&self) -> Option<Outline> {
        let (OutlineHead { imports, namespaces, extensions }, mut bodies) = self.decode_head()?;
        let mut definitions = Vec::new();
        for entry in self.entries() {
            let offset = (self.encoded.len() - bodies.len()) as u32;
            let definition: Definition;
            (definition, bodies) = postcard::take_from_bytes(bodies).ok()?;
            let is_right = entry_at(entry) == DefinitionShape::of(&definition).entry(offset);
            is_right.then(|| definitions.push(Arc::new(definition)))?;
        }
        bodies.is_empty().then_some(Outline { definitions, imports, namespaces, extensions })
    }
}

fn entry_at(bytes: &[u8; ENTRY_BYTES]) -> DefinitionEntry {
    bytemuck::pod_read_unaligned(bytes)
}
