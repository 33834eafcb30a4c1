//! A collector of OpenTelemetry: receives OTLP requests in JSON over HTTP.

use std::time::Duration;

use tokio::time::Instant;

use crate::http::{HttpClient, HttpRequest, HttpServerConfig, KeyHeader, RequestHeaders, ServerError};

/// Time for one request, with retries while the collector is busy.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of a response in bytes: the number of refused records, and the reason.
const MAX_RESPONSE_BYTES: usize = 1 << 20;

/// Client of a collector.
pub struct TelemetryCollector {
    client: HttpClient,
}

impl TelemetryCollector {
    /// Creates the client without connecting.
    ///
    /// # Errors
    /// The address is none.
    pub fn new(server: &HttpServerConfig) -> Result<TelemetryCollector, ServerError> {
        let headers = RequestHeaders { key: KeyHeader::Bearer, headers: &[] };
        Ok(TelemetryCollector { client: HttpClient::new(server, headers)? })
    }

    /// Sends a request to one of the collector's paths, `/v1/traces` or `/v1/logs`.
    pub async fn send(&self, path: &str, request: Vec<u8>) -> Result<(), ServerError> {
        let call = HttpRequest {
            url: self.client.endpoint(path),
            body: Some(request),
            recorded_form: None,
            document: None,
            deadline: Some(Instant::now() + TIMEOUT),
        };
        let sending = async { self.client.ask(&call).await?.body(MAX_RESPONSE_BYTES).await };
        match tokio::time::timeout(TIMEOUT, sending).await {
            Ok(response) => response.map(drop),
            Err(_) => Err(self.client.unfinished_answer(TIMEOUT)),
        }
    }
}
