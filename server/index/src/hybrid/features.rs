//! What speaks for and against a definition, and how much.

use super::weights::WEIGHTS;

/// Declares the features with their weights and meanings.
macro_rules! features {
    ($($(#[doc = $doc:literal])+ $feature:ident = $name:literal,)+) => {
        /// Something that speaks for or against a definition.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Feature {
            $($(#[doc = $doc])+ $feature,)+
        }

        /// The names of all features, in the order of the weights.
        pub const FEATURES: [&str; COUNT] = [$($name),+];

        /// How many there are.
        pub(crate) const COUNT: usize = [$($name),+].len();
    };
}

features! {
    /// It is a member of what stands before the dot.
    Receiver = "receiver",
    /// Its name stands in a window like the text around the cursor: that window's score as a share of the best one's.
    InWindow = "in_window",
    /// It stands in such a window itself.
    DefinedInWindow = "defined_in_window",
    /// It is not meant for other files.
    Private = "private",
    /// One of its type's bases is named in what is being written, or in the type that is to be returned.
    BaseExpected = "base_expected",
    /// How near the last mention of what it belongs to is.
    Recency = "recency",
    /// How often that is mentioned: logarithm of one more.
    Mentions = "mentions",
    /// What it belongs to is imported and not used yet.
    UnusedImport = "unused_import",
    /// What it belongs to is imported by name.
    Imported = "imported",
    /// It is a function that belongs to no type.
    Function = "function",
    /// It is a member of a type or module.
    Member = "member",
    /// It makes a value of its type.
    Constructor = "constructor",
    /// It is a value outside of types.
    Constant = "constant",
    /// It is a type.
    Type = "type",
    /// It is a value of a type.
    Field = "field",
    /// Its name's parts that stand around the cursor.
    NameOverlap = "name_overlap",
    /// Its owner's name's parts that stand around the cursor.
    OwnerOverlap = "owner_overlap",
    /// Its parameters' names' parts that stand around the cursor.
    ParameterOverlap = "parameter_overlap",
    /// Its name's parts that stand on the last two lines.
    LastLinesOverlap = "last_lines_overlap",
    /// Its name begins and ends with two underscores.
    Special = "special",
    /// Its name stands before the cursor already.
    InPrefix = "in_prefix",
    /// Its name stands after the cursor.
    InSuffix = "in_suffix",
    /// How near.
    NearInSuffix = "near_in_suffix",
    /// How near what it belongs to is mentioned after the cursor.
    OwnerInSuffix = "owner_in_suffix",
    /// It is a member of the type of a variable in reach.
    Variable = "variable",
    /// It is a member of a base of the type around the cursor.
    Base = "base",
    /// It is a member of the type of a field of the type around the cursor.
    FieldType = "field_type",
    /// It is a member of the type of a member of one of the others.
    Hop = "hop",
    /// It is in the same package or folder and is not mentioned.
    Fresh = "fresh",
    /// The type before the dot is known, and it is no member of that.
    OtherOwner = "other_owner",
    /// In how many places its name stands: logarithm of one more.
    Popularity = "popularity",
    /// It is a member of what ends at the cursor, where a dot may come next.
    Trailing = "trailing",
    /// The name that is begun at the cursor begins its name, too: which share of it is written.
    Begun = "begun",
    /// A name is begun at the cursor, and it is no beginning of its name.
    NotBegun = "not_begun",
}

/// The features of one definition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Features(pub(crate) [f32; COUNT]);

impl Features {
    pub(crate) fn none() -> Features {
        Features([0.0; COUNT])
    }

    pub(crate) fn set(&mut self, feature: Feature, value: f32) {
        self.0[feature as usize] = value;
    }

    /// The weighted sum.
    pub(crate) fn score(&self) -> f32 {
        self.0.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum()
    }
}
