//! A server as somebody configured it.

use std::fmt;
use std::time::Duration;

use config::Secret;

use super::address::{parse, shown};
use super::key::Secrets;

/// Which way requests take.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Proxy {
    /// As the system says. A server on this machine is always asked directly: no proxy can reach it.
    #[default]
    System,
    /// Directly.
    Direct,
    /// Through this one, wherever the server is; its address may hold a name and a password.
    At(String),
}

/// How long is waited for what, and how much is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For a connection.
    pub connect: Duration,
    /// From there to the first byte of an answer.
    pub first_byte: Duration,
    /// For each further byte.
    pub idle: Duration,
    /// Longest answer, in bytes as they are sent.
    pub answer: usize,
}

impl Limits {
    /// For answers to people who wait: whoever asks has a deadline of their own, and it is shorter.
    ///
    /// A server that is there accepts a connection at once, also across an ocean. A long question takes a small processor a minute
    /// to read (measured: 8 to 40 s for 8,000 tokens by a model of 14 million parameters on two cores), and tokens then come every
    /// second at least. Whatever says more than 16 MB says it without end: with all that servers put around a token, which is a
    /// thousand bytes at most, that is 16,000 tokens.
    pub const STANDARD: Limits = Limits {
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(60),
        idle: Duration::from_secs(20),
        answer: 16 << 20,
    };
}

/// A server, and how it is reached. Addresses and headers may hold keys, so neither is shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    /// Its address, with or without the path that its kind adds.
    pub url: String,
    /// What proves who asks, for servers that want it. How it is sent is the format's.
    pub key: Option<Secret>,
    /// Further headers; they win over those that the format sends. Values may be secret.
    pub headers: Vec<(String, Secret)>,
    /// The way there.
    pub proxy: Proxy,
    /// Certificates in PEM of authorities that are trusted besides the system's.
    pub roots: Option<Vec<u8>>,
    /// Patience.
    pub limits: Limits,
    /// Requests at once; further ones wait their turn. `None` for as many as come.
    pub at_once: Option<usize>,
}

impl Server {
    /// A server that wants no key, reached as the system says.
    pub fn at(url: &str) -> Server {
        Server {
            url: url.to_owned(),
            key: None,
            headers: Vec::new(),
            proxy: Proxy::System,
            roots: None,
            limits: Limits::STANDARD,
            at_once: None,
        }
    }
}

impl Server {
    /// A text without the keys that prove who asks this server.
    pub(crate) fn without_keys(&self, text: &str) -> String {
        let values = self.headers.iter().map(|(_, value)| value);
        Secrets::new(self.key.as_ref(), values, parse(&self.url).iter()).removed_from(text)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = parse(&self.url).map_or_else(|_| "no address".to_owned(), |url| shown(&url));
        write!(f, "Server({host})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_host_is_shown() {
        let server = Server {
            key: Some(Secret::new("secret")),
            headers: vec![("x-key".to_owned(), Secret::new("secret"))],
            proxy: Proxy::At("http://me:secret@proxy".to_owned()),
            ..Server::at("http://me:secret@host:81/secret?code=secret")
        };
        assert_eq!(format!("{server:?}"), "Server(host:81)");
    }
}
