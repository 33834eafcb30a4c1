//! Requests of other programs that pass through to the server of an engine with their bytes unchanged.
//!
//! Responsible for the address, the key and the limits of the engine. It must never look into a body, follow a redirect, or repeat a
//! request to which there was a response.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName};
use reqwest::{Method, StatusCode, Url};
use tokio::time::timeout;

use super::address;
use super::client::{KeyHeader, RequestHeaders, connections, headers, send};
use super::error::{ServerError, TimeoutStage};
use super::redactor::Redactor;
use super::server_config::{HttpLimits, HttpServerConfig, Proxy};

/// Ends of configured addresses that are part of an API, not of the place where the server is.
const API_PATHS: [&str; 11] = [
    "/v1/chat/completions",
    "/v1/fim/completions",
    "/v1/completions",
    "/beta/completions",
    "/api/generate",
    "/completion",
    "/infill",
    "/generate",
    "/api",
    "/beta",
    "/v1",
];

/// The server of an engine, for requests of other programs.
pub struct PassThrough {
    http: reqwest::Client,
    base: Url,
    server: String,
    limits: HttpLimits,
    secrets: Redactor,
    /// Headers that the engine's settings define: those of the request give way.
    own_headers: Vec<HeaderName>,
}

/// A request of another program.
pub struct PassedRequest<'a> {
    /// Its method.
    pub method: Method,
    /// Its path, with the query.
    pub path: &'a str,
    /// The headers to send.
    pub headers: HeaderMap,
    /// Its body.
    pub body: Bytes,
}

/// The response to such a request.
pub struct PassedResponse {
    response: reqwest::Response,
    origin: Arc<PassThrough>,
}

impl PassThrough {
    /// Creates the client without connecting.
    ///
    /// # Errors
    /// The address, a header, the proxy or a certificate is invalid.
    pub fn new(server: &HttpServerConfig) -> Result<PassThrough, ServerError> {
        let url = address::parse(&server.url)?;
        let proxy = match &server.proxy {
            Proxy::At(proxy) => Some(address::parse(proxy)?),
            Proxy::System | Proxy::Direct => None,
        };
        let own = headers(server, RequestHeaders { key: KeyHeader::Bearer, headers: &[] })?;
        let mut own_headers: Vec<HeaderName> =
            server.headers.iter().filter_map(|(name, _)| name.parse().ok()).collect();
        own_headers.extend(server.key.is_some().then_some(AUTHORIZATION));
        let values = server.headers.iter().map(|(_, value)| value);
        let addresses = [Some(&url), proxy.as_ref()].into_iter().flatten();
        Ok(PassThrough {
            http: connections(server, &url, proxy.as_ref(), own)?,
            server: address::shown(&url),
            limits: server.limits,
            secrets: Redactor::new(server.key.as_ref(), values, addresses),
            own_headers,
            base: without_api_path(url),
        })
    }

    /// Sends a request and returns the response as soon as its headers are there, whatever its status is.
    ///
    /// # Errors
    /// The server cannot be reached, or does not begin to answer in time.
    pub async fn send(self: &Arc<Self>, request: PassedRequest<'_>) -> Result<PassedResponse, ServerError> {
        let PassedRequest { method, path, mut headers, body } = request;
        self.own_headers.iter().for_each(|name| drop(headers.remove(name)));
        let limit = self.limits.first_byte_of(body.len());
        let url = self.address_of(path);
        let request = || {
            let request = self.http.request(method.clone(), url.clone()).headers(headers.clone());
            if body.is_empty() { request } else { request.body(body.clone()) }
        };
        let sent = timeout(limit, send(request)).await;
        let sent = sent.map_err(|_| self.timed_out(TimeoutStage::FirstByte, limit))?;
        let response = sent.map_err(|error| self.connection_error(&error))?;
        Ok(PassedResponse { response, origin: Arc::clone(self) })
    }

    /// Returns the address of a path with its query; the query of the configured address is used if there is no other.
    fn address_of(&self, path: &str) -> Url {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let mut url = self.base.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}{path}"));
        if query.is_some() {
            url.set_query(query);
        }
        url
    }

    fn timed_out(&self, stage: TimeoutStage, waited: Duration) -> ServerError {
        ServerError::Timeout { server: self.server.clone(), stage, waited }
    }

    fn connection_error(&self, error: &reqwest::Error) -> ServerError {
        if error.is_timeout() && error.is_connect() {
            return self.timed_out(TimeoutStage::Connecting, self.limits.connect);
        }
        let reason = self.secrets.redact(&super::error_message::root_cause(error));
        super::error_response::unreachable(error, self.server.clone(), reason)
    }
}

impl PassedResponse {
    /// Returns the status.
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Returns the next bytes of the body as they arrive; `None` at its end.
    ///
    /// # Errors
    /// The connection broke, or no further bytes arrived in time.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ServerError> {
        let limit = self.origin.limits.idle;
        match timeout(limit, self.response.chunk()).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(error)) => Err(self.origin.connection_error(&error)),
            Err(_) => Err(self.origin.timed_out(TimeoutStage::NextByte, limit)),
        }
    }
}

fn without_api_path(mut url: Url) -> Url {
    let path = url.path().trim_end_matches('/').to_owned();
    let base = API_PATHS.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(&path).to_owned();
    url.set_path(&base);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_to_the_place_of_the_server_with_their_own_path() {
        for (configured, path, expected) in [
            ("http://127.0.0.1:8080", "/infill", "http://127.0.0.1:8080/infill"),
            ("http://127.0.0.1:8080/infill", "/props", "http://127.0.0.1:8080/props"),
            ("https://api.example/proxy/v1/", "/v1/models?a=1", "https://api.example/proxy/v1/models?a=1"),
            ("https://api.example/v1/completions?k=2", "/v1/models", "https://api.example/v1/models?k=2"),
            ("https://api.example/beta", "/beta/completions", "https://api.example/beta/completions"),
            (
                "https://api.example/v1/chat/completions",
                "/v1/completions",
                "https://api.example/v1/completions",
            ),
        ] {
            let server = PassThrough::new(&HttpServerConfig::at(configured)).expect("a valid address");
            assert_eq!(server.address_of(path).as_str(), expected);
        }
    }
}
