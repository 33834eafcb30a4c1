//! Configuration of an HTTP server.

use std::fmt;
use std::time::Duration;

use config::Secret;

use super::address::{parse, shown};
use super::redactor::Redactor;

/// Proxy of the requests.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Proxy {
    /// The system's setting. A loopback server is always contacted directly, because no proxy can reach it.
    #[default]
    System,
    /// No proxy.
    Direct,
    /// This proxy, for all servers; its address may contain a name and a password.
    At(String),
}

/// Timeouts and size limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Connect timeout.
    pub connect: Duration,
    /// Timeout from the connection to the first byte of the answer, for a request of 32 KB at most.
    pub first_byte: Duration,
    /// Timeout between bytes.
    pub idle: Duration,
    /// Maximum size of an answer in bytes, as transferred.
    pub answer: usize,
}

/// Size of a request in bytes from which on the timeout to the first byte grows with it: a prompt of 8,000 tokens.
const PATIENT_BYTES: usize = 32 << 10;

impl HttpLimits {
    /// Returns the timeout to the first byte for a request of this size in bytes: servers read a prompt before they answer, so that a
    /// context of 128,000 tokens takes 16 times as long as one of 8,000.
    pub fn first_byte_of(&self, bytes: usize) -> Duration {
        let times = u32::try_from(bytes.div_ceil(PATIENT_BYTES)).unwrap_or(u32::MAX);
        self.first_byte.saturating_mul(times.max(1))
    }

    /// Limits for interactive use; requests have their own, shorter deadline.
    ///
    /// A reachable server accepts a connection at once, even across an ocean. A long prompt takes a slow processor up to a
    /// minute to read (measured: 8 to 40 s for 8,000 tokens by a model of 14 million parameters on two cores); after that,
    /// tokens arrive at least every second. An answer above 16 MB is endless: with at most a thousand bytes per token including
    /// the server's framing, 16 MB are 16,000 tokens.
    pub const DEFAULT: HttpLimits = HttpLimits {
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(60),
        idle: Duration::from_secs(20),
        answer: 16 << 20,
    };
}

/// Configuration of a server. Addresses and headers may contain keys, so neither is shown.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpServerConfig {
    /// Its address, with or without the path that its kind adds.
    pub url: String,
    /// API key, for servers that require one. The format decides how it is sent.
    pub key: Option<Secret>,
    /// Additional headers; they override those of the format. Values may be secret.
    pub headers: Vec<(String, Secret)>,
    /// The proxy.
    pub proxy: Proxy,
    /// Additional trusted root certificates in PEM.
    pub root_certificates: Option<Vec<u8>>,
    /// Our certificate with its private key in PEM, for servers that ask for one.
    pub identity: Option<Vec<u8>>,
    /// Timeouts and limits.
    pub limits: HttpLimits,
    /// Maximum concurrent requests; further ones are queued. `None`: unlimited.
    pub max_concurrency: Option<usize>,
}

impl HttpServerConfig {
    /// Creates the configuration of a server without a key, with the system's proxy.
    pub fn at(url: &str) -> HttpServerConfig {
        HttpServerConfig {
            url: url.to_owned(),
            key: None,
            headers: Vec::new(),
            proxy: Proxy::System,
            root_certificates: None,
            identity: None,
            limits: HttpLimits::DEFAULT,
            max_concurrency: None,
        }
    }
}

impl HttpServerConfig {
    /// Redacts this server's keys in a text.
    pub(crate) fn redact(&self, text: &str) -> String {
        let values = self.headers.iter().map(|(_, value)| value);
        Redactor::new(self.key.as_ref(), values, parse(&self.url).iter()).redact(text)
    }
}

impl fmt::Debug for HttpServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = parse(&self.url).map_or_else(|_| "no address".to_owned(), |url| shown(&url));
        write!(f, "Server({host})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_only_the_host() {
        let server = HttpServerConfig {
            key: Some(Secret::new("secret")),
            headers: vec![("x-key".to_owned(), Secret::new("secret"))],
            proxy: Proxy::At("http://me:secret@proxy".to_owned()),
            ..HttpServerConfig::at("http://me:secret@host:81/secret?code=secret")
        };
        assert_eq!(format!("{server:?}"), "Server(host:81)");
    }
}
