//! Secret values, which are never displayed.

use std::fmt;

/// A key or another credential. It never appears in messages, logs or traces.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret. Trims blanks.
    pub fn new(text: &str) -> Secret {
        Secret(text.trim().to_owned())
    }

    /// Creates a secret to which the blanks around it belong.
    pub fn with_blanks(text: String) -> Secret {
        Secret(text)
    }

    /// Returns the secret. Only send it; never display it.
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
    fn debug_hides_the_secret() {
        let secret = Secret::new(" hidden\n");
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "Secret(..) Some(Secret(..))");
        assert_eq!(secret.expose(), "hidden");
    }
}
