//! Which requests are let in: those of programs on this machine, and elsewhere those with the token.
//!
//! A page in the developer's browser can send requests to this machine, and a name of its own can lead to this machine (DNS rebinding).
//! Such a page must neither learn code nor cause costs. No response permits a page of another origin to read it.

use config::Secret;
use http_server::{is_equal, is_foreign_page, is_local_host};
use hyper::header::{AUTHORIZATION, HeaderMap};
use hyper::{Method, StatusCode};

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Status of the response.
    pub(crate) status: StatusCode,
    /// The reason and the remedy.
    pub(crate) message: &'static str,
}

/// Checks requests.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    token: Option<Secret>,
}

impl Guard {
    /// Creates a guard; with a token, every request must carry it.
    pub(crate) fn new(token: Option<Secret>) -> Guard {
        Guard { token }
    }

    /// Returns why a request is refused, if it is.
    pub(crate) fn refusal(&self, method: &Method, headers: &HeaderMap) -> Option<Refusal> {
        if is_foreign_page(headers) || *method == Method::OPTIONS {
            return Some(Refusal {
                status: StatusCode::FORBIDDEN,
                message: "requests of web pages are refused",
            });
        }
        match &self.token {
            Some(token) if !has_token(headers, token) => Some(Refusal {
                status: StatusCode::UNAUTHORIZED,
                message: "the token is missing or wrong; set it as the API key of the plugin",
            }),
            // The token proves that the request is not of a page that was led here under another name.
            Some(_) => None,
            None if !is_local_host(headers) => Some(Refusal {
                status: StatusCode::FORBIDDEN,
                message: "the address of the request does not name this machine; use 127.0.0.1 or localhost",
            }),
            None => None,
        }
    }

    /// Removes the token from headers that are passed on.
    pub(crate) fn remove_token(&self, headers: &mut HeaderMap) {
        let Some(token) = &self.token else { return };
        let with_token: Vec<_> = headers
            .iter()
            .filter(|(_, value)| is_token(value.as_bytes(), token))
            .map(|(name, _)| name.clone())
            .collect();
        with_token.iter().for_each(|name| drop(headers.remove(name)));
    }
}

fn has_token(headers: &HeaderMap, token: &Secret) -> bool {
    let names = [AUTHORIZATION.as_str(), "x-api-key", "api-key"];
    names.iter().any(|name| headers.get(*name).is_some_and(|value| is_token(value.as_bytes(), token)))
}

fn is_token(value: &[u8], token: &Secret) -> bool {
    let value = value.strip_prefix(b"Bearer ").or_else(|| value.strip_prefix(b"bearer ")).unwrap_or(value);
    is_equal(value, token.expose().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(headers: &[(&'static str, &str)]) -> HeaderMap {
        headers
            .iter()
            .map(|(name, value)| (name.parse().expect("a name"), value.parse().expect("a value")))
            .collect()
    }

    fn status(guard: &Guard, given: &[(&'static str, &str)]) -> Option<u16> {
        guard.refusal(&Method::POST, &headers(given)).map(|refusal| refusal.status.as_u16())
    }

    #[test]
    fn programs_on_this_machine_are_let_in() {
        let guard = Guard::new(None);
        for host in ["127.0.0.1:7117", "localhost:7117", "LOCALHOST", "[::1]:7117", "127.8.8.8"] {
            assert_eq!(status(&guard, &[("host", host)]), None, "{host}");
        }
        for origin in
            ["http://localhost:3000", "vscode-file://vscode-app", "http://127.0.0.1", "http://[::1]:1"]
        {
            assert_eq!(status(&guard, &[("host", "localhost"), ("origin", origin)]), None, "{origin}");
        }
    }

    #[test]
    fn pages_and_names_of_others_are_refused() {
        let guard = Guard::new(None);
        for host in
            ["evil.example", "localhost.evil.example:7117", "10.0.0.1", "", "127.0.0.1.evil.example", "[::2]"]
        {
            assert_eq!(status(&guard, &[("host", host)]), Some(403), "{host}");
        }
        assert_eq!(status(&guard, &[]), Some(403));
        assert_eq!(status(&guard, &[("host", "localhost"), ("host", "evil.example")]), Some(403));
        for origin in ["https://evil.example", "null", "http://localhost.evil.example", ""] {
            assert_eq!(status(&guard, &[("host", "localhost"), ("origin", origin)]), Some(403), "{origin}");
        }
        assert_eq!(status(&guard, &[("host", "localhost"), ("sec-fetch-site", "cross-site")]), Some(403));
        let preflight = guard.refusal(&Method::OPTIONS, &headers(&[("host", "localhost")]));
        assert_eq!(preflight.map(|refusal| refusal.status.as_u16()), Some(403));
    }

    #[test]
    fn with_a_token_every_request_needs_it_and_it_is_not_passed_on() {
        let guard = Guard::new(Some(Secret::new("a-token")));
        for given in [("authorization", "Bearer a-token"), ("x-api-key", "a-token"), ("api-key", "a-token")] {
            assert_eq!(status(&guard, &[("host", "box.example"), given]), None, "{given:?}");
        }
        for given in
            [("authorization", "Bearer a-toke"), ("authorization", "Bearer a-token2"), ("x-api-key", "")]
        {
            assert_eq!(status(&guard, &[("host", "localhost"), given]), Some(401), "{given:?}");
        }
        assert_eq!(status(&guard, &[("host", "localhost")]), Some(401));
        let mut passed = headers(&[("authorization", "Bearer a-token"), ("x-api-key", "other")]);
        guard.remove_token(&mut passed);
        assert_eq!(passed, headers(&[("x-api-key", "other")]));
    }
}
