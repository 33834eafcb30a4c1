//! Redacts secrets in messages.

use config::Secret;
use reqwest::Url;
use serde_json::Value;

/// Minimum length of a secret in bytes. Shorter texts occur in messages by chance.
const LEAST_SECRET: usize = 6;

/// The secrets of one server, which are removed from everything it sends before it is shown.
#[derive(Clone, Default)]
pub(crate) struct Secrets {
    /// Longest first: one may be part of another.
    texts: Vec<String>,
}

impl Secrets {
    /// Collects the key, the values of headers, and every part of the address besides host and path.
    pub(crate) fn new<'a>(
        key: Option<&Secret>,
        headers: impl Iterator<Item = &'a Secret>,
        addresses: impl Iterator<Item = &'a Url>,
    ) -> Secrets {
        let mut texts: Vec<String> = key.map(|key| key.expose().to_owned()).into_iter().collect();
        let long = |text: &String| text.len() >= LEAST_SECRET;
        // Servers may quote the key without the preceding word such as `Bearer`.
        let parts = |value: &'a Secret| {
            let words = value.expose().split_whitespace().skip(1).map(str::to_owned);
            std::iter::once(value.expose().to_owned()).chain(words)
        };
        texts.extend(headers.flat_map(parts).filter(long));
        for address in addresses {
            texts.extend(address.password().map(str::to_owned));
            texts.extend(address.query_pairs().map(|(_, value)| value.into_owned()).filter(long));
        }
        texts.retain(|text| !text.is_empty());
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Secrets { texts }
    }

    /// Returns the text without secrets.
    pub(crate) fn removed_from(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "(the key)"))
    }

    /// Returns the value without any string that contains a secret.
    pub(super) fn removed_from_json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.removed_from(&text)),
            Value::Array(values) => values.into_iter().map(|value| self.removed_from_json(value)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (name, self.removed_from_json(value))).collect()
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_headers_and_what_addresses_hold_are_taken_out() {
        let url = Url::parse("http://me:password@host/path?code=0123456789&v=1").unwrap();
        let headers = [Secret::new("header-value"), Secret::new("1")];
        let secrets = Secrets::new(Some(&Secret::new("abc")), headers.iter(), [&url].into_iter());
        assert_eq!(
            secrets.removed_from("abc header-value password 0123456789 1 path"),
            "(the key) (the key) (the key) (the key) 1 path"
        );
        let longer =
            Secrets::new(Some(&Secret::new("abc")), [Secret::new("abcdef")].iter(), std::iter::empty());
        assert_eq!(longer.removed_from("abcdef"), "(the key)");
        let bearer = Secrets::new(None, [Secret::new("Bearer abcdef")].iter(), std::iter::empty());
        assert_eq!(
            bearer.removed_from("no Bearer abcdef: abcdef, Bearer?"),
            "no (the key): (the key), Bearer?"
        );
    }
}
