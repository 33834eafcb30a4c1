//! Values that nobody is shown.

use std::fmt;

/// A key, or anything else that proves who asks. No message, log or trace ever shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A secret as its owner wrote it down; blanks around it are no part of it.
    pub fn new(text: &str) -> Secret {
        Secret(text.trim().to_owned())
    }

    /// The secret itself, to be sent and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Secret::new(" hidden\n");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "Secret(..) Some(Secret(..))");
        assert_eq!(secret.expose(), "hidden");
    }
}
