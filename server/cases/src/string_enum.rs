//! Enums whose values are fixed words in files and on the command line.

/// Declares an enum whose variants are serialized as fixed words, with `name()`, `Display` and `FromStr` that use these words.
macro_rules! string_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All values, in the order of the documentation.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// Returns the word for this value in files and on the command line.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(word: &str) -> Result<$name, String> {
                $name::ALL.iter().copied().find(|value| value.name() == word).ok_or_else(|| {
                    let known: Vec<_> = $name::ALL.iter().map(|value| value.name()).collect();
                    format!("unknown word `{word}`; known are {}", known.join(", "))
                })
            }
        }
    };
}
pub(crate) use string_enum;
