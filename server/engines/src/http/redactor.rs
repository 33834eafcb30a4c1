//! Redacts secrets in messages.

use config::Secret;
use reqwest::Url;
use serde_json::Value;

/// Minimum length of a secret in bytes. Shorter texts occur in messages by chance.
const MIN_SECRET_BYTES: usize = 6;

/// The secrets of one server, which are removed from everything it sends before it is shown.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    /// Longest first: one may be part of another.
    texts: Vec<String>,
}

impl Redactor {
    /// Collects the key, the values of headers, and every part of the address besides host and path.
    pub(crate) fn new<'a>(
        key: Option<&Secret>,
        headers: impl Iterator<Item = &'a Secret>,
        addresses: impl Iterator<Item = &'a Url>,
    ) -> Redactor {
        let mut texts: Vec<String> = key.map(|key| key.expose().to_owned()).into_iter().collect();
        let long = |text: &String| text.len() >= MIN_SECRET_BYTES;
        // Servers may quote the key without the preceding word such as `Bearer`.
        let parts = |value: &'a Secret| {
            let text = value.expose().trim();
            std::iter::once(text).chain(text.split_whitespace().skip(1)).map(str::to_owned)
        };
        texts.extend(headers.flat_map(parts).filter(long));
        for address in addresses {
            texts.extend(address.password().map(str::to_owned));
            texts.extend(address.query_pairs().map(|(_, value)| value.into_owned()).filter(long));
        }
        texts.retain(|text| !text.is_empty());
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        Redactor { texts }
    }

    /// Returns the text without secrets.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "(the key)"))
    }

    /// Returns the value without any string that contains a secret.
    pub(super) fn redact_json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.redact(&text)),
            Value::Array(values) => values.into_iter().map(|value| self.redact_json(value)).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (name, self.redact_json(value))).collect()
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_headers_and_url_secrets_are_redacted() {
        let url = Url::parse("http://me:password@host/path?code=0123456789&v=1").unwrap();
        let headers = [Secret::new("header-value"), Secret::new("1")];
        let secrets = Redactor::new(Some(&Secret::new("abc")), headers.iter(), [&url].into_iter());
        assert_eq!(
            secrets.redact("abc header-value password 0123456789 1 path"),
            "(the key) (the key) (the key) (the key) 1 path"
        );
        let longer =
            Redactor::new(Some(&Secret::new("abc")), [Secret::new("abcdef")].iter(), std::iter::empty());
        assert_eq!(longer.redact("abcdef"), "(the key)");
        let bearer = Redactor::new(None, [Secret::new("Bearer abcdef")].iter(), std::iter::empty());
        assert_eq!(bearer.redact("no Bearer abcdef: abcdef, Bearer?"), "no (the key): (the key), Bearer?");
    }
}
