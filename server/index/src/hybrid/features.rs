//! The features of a definition, and their weights.

use super::weights::WEIGHTS;

/// Declares the features with their weights and meanings.
macro_rules! features {
    ($($(#[doc = $doc:literal])+ $feature:ident = $name:literal,)+) => {
        /// A feature for or against a definition.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Feature {
            $($(#[doc = $doc])+ $feature,)+
        }

        /// The names of all features, in the order of the weights.
        pub const FEATURES: [&str; COUNT] = [$($name),+];

        /// Number of features.
        pub(crate) const COUNT: usize = [$($name),+].len();
    };
}

features! {
    /// It is a member of the expression before the dot.
    Receiver = "receiver",
    /// Its name occurs in a window similar to the text around the cursor: that window's score as a share of the best one's.
    InWindow = "in_window",
    /// It is defined in such a window.
    DefinedInWindow = "defined_in_window",
    /// It is private to its file.
    Private = "private",
    /// One of its type's bases is named on the lines being written, or in the return type.
    BaseExpected = "base_expected",
    /// Recency of the last mention of its owner.
    Recency = "recency",
    /// Number of the owner's mentions: logarithm of one more.
    Mentions = "mentions",
    /// Its owner is imported and not used yet.
    UnusedImport = "unused_import",
    /// Its owner is imported by name.
    Imported = "imported",
    /// It is a function that belongs to no type.
    Function = "function",
    /// It is a member of a type or module.
    Member = "member",
    /// It constructs a value of its type.
    Constructor = "constructor",
    /// It is a value outside of types.
    Constant = "constant",
    /// It is a type.
    Type = "type",
    /// It is a value of a type.
    Field = "field",
    /// Share of its name's parts around the cursor.
    NameOverlap = "name_overlap",
    /// Share of its owner's name's parts around the cursor.
    OwnerOverlap = "owner_overlap",
    /// Share of its parameters' names' parts around the cursor.
    ParameterOverlap = "parameter_overlap",
    /// Share of its name's parts on the last two lines.
    LastLinesOverlap = "last_lines_overlap",
    /// Its name begins and ends with two underscores.
    Special = "special",
    /// Its name occurs before the cursor.
    InPrefix = "in_prefix",
    /// Its name occurs after the cursor.
    InSuffix = "in_suffix",
    /// Nearness of that occurrence.
    NearInSuffix = "near_in_suffix",
    /// Nearness of its owner's mention after the cursor.
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
    /// The type before the dot is known, and it is not a member of that type.
    OtherOwner = "other_owner",
    /// Number of places where its name occurs: logarithm of one more.
    Popularity = "popularity",
    /// It is a member of the expression that ends at the cursor, where a dot may come next.
    Trailing = "trailing",
    /// Its name begins with the partial name at the cursor: the typed share of it.
    Begun = "begun",
    /// There is a partial name at the cursor, and its name does not begin with it.
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

    /// Returns the weighted sum.
    pub(crate) fn score(&self) -> f32 {
        self.0.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum()
    }
}
