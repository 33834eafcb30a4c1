//! Which requests are let in: those with the credential of an account, within the rights of its role.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http_server::{Peer, ResponseBody, is_foreign_page, read_body, refusal};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Method, Request, Response, StatusCode};
use tokio::sync::SemaphorePermit;

use super::{BODY, ServerState, blocking};
use crate::account::{Account, AccountRole, CredentialHash};
use crate::protocol;

/// How long an upload waits for its turn before it is refused.
const SLOT_TIME: Duration = Duration::from_secs(2);

/// Most uploads of one account at the same time: a client of ours sends one, and slow ones must leave room for others.
const ACCOUNT_UPLOADS: usize = 4;

/// When a refused client comes back, in seconds.
const RETRY_SECONDS: u32 = 5;

/// The resource of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    Bundles,
    Traces,
    Logs,
    Status,
    Forget,
    Rows,
    Developers,
    Copies,
    Scoreboard,
    Audit,
    Dashboard,
}

impl Route {
    fn of(path: &str) -> Option<(Route, Method)> {
        Some(match path {
            protocol::BUNDLES => (Route::Bundles, Method::POST),
            protocol::TRACES => (Route::Traces, Method::POST),
            protocol::LOGS => (Route::Logs, Method::POST),
            protocol::STATUS => (Route::Status, Method::GET),
            protocol::FORGET => (Route::Forget, Method::POST),
            protocol::ROWS => (Route::Rows, Method::GET),
            protocol::DEVELOPERS => (Route::Developers, Method::GET),
            protocol::COPIES => (Route::Copies, Method::POST),
            protocol::SCOREBOARD => (Route::Scoreboard, Method::GET),
            protocol::AUDIT => (Route::Audit, Method::GET),
            "/" => (Route::Dashboard, Method::GET),
            _ => return None,
        })
    }

    /// Whether a role may ask for it.
    fn is_for(self, role: AccountRole) -> bool {
        match self {
            Route::Status | Route::Forget => true,
            Route::Bundles | Route::Traces | Route::Logs => role == AccountRole::Developer,
            Route::Rows | Route::Developers | Route::Copies | Route::Scoreboard | Route::Dashboard => {
                role.may_read()
            }
            Route::Audit => role == AccountRole::Admin,
        }
    }

    fn is_upload(self) -> bool {
        matches!(self, Route::Bundles | Route::Traces | Route::Logs)
    }
}

/// A request that was let in.
pub(crate) struct Admitted<'a> {
    pub(crate) route: Route,
    pub(crate) account: Account,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Held while an upload is under way.
    pub(crate) _slot: Option<UploadSlot<'a>>,
}

pub(crate) async fn admit<'a>(
    state: &'a ServerState,
    peer: &Peer,
    request: Request<Incoming>,
) -> Result<Admitted<'a>, Response<ResponseBody>> {
    let (parts, body) = request.into_parts();
    if is_foreign_page(&parts.headers) || parts.method == Method::OPTIONS {
        return Err(refusal(StatusCode::FORBIDDEN, "requests of web pages are refused"));
    }
    if parts.uri.path() == protocol::HEALTH {
        return Err(health(state).await);
    }
    let (route, method) = Route::of(parts.uri.path()).ok_or_else(|| {
        refusal(StatusCode::NOT_FOUND, "there is nothing at this path; see docs/collect.md")
    })?;
    if parts.method != method {
        return Err(refusal(StatusCode::METHOD_NOT_ALLOWED, &format!("use {method}")));
    }
    let account = authenticate(state, peer, &parts.headers).await?;
    if !route.is_for(account.role) {
        let message = format!(
            "an account with the role {} may not do this; ask the server's administrator for another token",
            account.role
        );
        return Err(refusal(StatusCode::FORBIDDEN, &message));
    }
    let slot = match route.is_upload() {
        true => Some(upload_slot(state, &account.name).await?),
        false => None,
    };
    let body = read_body(body, BODY).await?;
    let query = query(parts.uri.query().unwrap_or_default());
    Ok(Admitted { route, account, query, headers: parts.headers, body, _slot: slot })
}

/// Whether the database answers, for whatever watches the server.
async fn health(state: &ServerState) -> Response<ResponseBody> {
    match blocking(state, crate::store::CollectStore::ping).await {
        Some(Ok(())) => http_server::json_response(StatusCode::OK, &serde_json::json!({ "healthy": true })),
        _ => unavailable("the database does not answer"),
    }
}

async fn authenticate(
    state: &ServerState,
    peer: &Peer,
    headers: &HeaderMap,
) -> Result<Account, Response<ResponseBody>> {
    let certificate = peer.certificate.as_deref().map(CredentialHash::of_certificate);
    let credentials: Vec<CredentialHash> =
        token(headers).map(|token| CredentialHash::of_token(&token)).into_iter().chain(certificate).collect();
    for credential in credentials {
        match blocking(state, move |store| store.account_of(&credential)).await {
            Some(Ok(Some(account))) => return Ok(account),
            Some(Ok(None)) => {}
            _ => return Err(unavailable("the database does not answer")),
        }
    }
    let message = match peer.certificate {
        None => {
            "the token is missing or wrong; ask the server's administrator for one: ghostbench collect token add"
        }
        Some(_) => {
            "no account has this certificate or token; ask the server's administrator for one: ghostbench collect token add NAME \
             --certificate FILE"
        }
    };
    let mut response = refusal(StatusCode::UNAUTHORIZED, message);
    // A browser asks for a password: the token.
    response.headers_mut().insert(
        WWW_AUTHENTICATE,
        HeaderValue::from_static("Basic realm=\"Ghostbench: the password is your token\""),
    );
    Err(response)
}

/// Returns the token of a request: as `Bearer`, or as the password of a browser.
fn token(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, value) = value.split_once(' ')?;
    match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Some(value.trim().to_owned()),
        "basic" => {
            let pair = String::from_utf8(BASE64_STANDARD.decode(value.trim()).ok()?).ok()?;
            Some(pair.split_once(':')?.1.to_owned())
        }
        _ => None,
    }
}

/// The right to send a body.
pub(crate) struct UploadSlot<'a> {
    _permit: SemaphorePermit<'a>,
    _turn: AccountTurn<'a>,
}

/// Counts the uploads of an account while they are under way.
struct AccountTurn<'a> {
    under_way: &'a Mutex<HashMap<String, usize>>,
    account: String,
}

impl AccountTurn<'_> {
    /// Returns `None` if the account has too many uploads under way.
    fn take<'a>(under_way: &'a Mutex<HashMap<String, usize>>, account: &str) -> Option<AccountTurn<'a>> {
        let mut counts = under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(account.to_owned()).or_default();
        if *count >= ACCOUNT_UPLOADS {
            return None;
        }
        *count += 1;
        Some(AccountTurn { under_way, account: account.to_owned() })
    }
}

impl Drop for AccountTurn<'_> {
    fn drop(&mut self) {
        let mut counts = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.account) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.account);
            }
        }
    }
}

async fn upload_slot<'a>(
    state: &'a ServerState,
    account: &str,
) -> Result<UploadSlot<'a>, Response<ResponseBody>> {
    let turn = AccountTurn::take(&state.accounts_under_way, account).ok_or_else(|| {
        let mut response = unavailable("this account has too many uploads under way");
        *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        response
    })?;
    match tokio::time::timeout(SLOT_TIME, state.uploads.acquire()).await {
        Ok(Ok(permit)) => Ok(UploadSlot { _permit: permit, _turn: turn }),
        _ => Err(unavailable("the server has too many uploads under way")),
    }
}

/// A refusal after which the client comes back.
pub(crate) fn unavailable(message: &str) -> Response<ResponseBody> {
    let message = format!("{message}; try again in {RETRY_SECONDS} s");
    let mut response = refusal(StatusCode::SERVICE_UNAVAILABLE, &message);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(RETRY_SECONDS));
    response
}

fn query(text: &str) -> Vec<(String, String)> {
    let decoded = |text: &str| {
        percent_encoding::percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
    };
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_from_both_schemes() {
        let with = |value: &str| {
            let headers = [(AUTHORIZATION, value.parse().expect("a value"))];
            token(&HeaderMap::from_iter(headers))
        };
        assert_eq!(with("Bearer gbc_1").as_deref(), Some("gbc_1"));
        assert_eq!(with(&format!("Basic {}", BASE64_STANDARD.encode("ann:gbc_1"))).as_deref(), Some("gbc_1"));
        for wrong in ["gbc_1", "Basic gbc_1", "Digest gbc_1", ""] {
            assert_eq!(with(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn roles_are_separate() {
        for (role, may) in [
            (AccountRole::Developer, "Bundles Status Forget"),
            (AccountRole::Analyst, "Status Forget Rows Scoreboard Dashboard"),
            (AccountRole::Admin, "Status Forget Rows Scoreboard Audit Dashboard"),
        ] {
            let routes = [
                Route::Bundles,
                Route::Status,
                Route::Forget,
                Route::Rows,
                Route::Scoreboard,
                Route::Audit,
                Route::Dashboard,
            ];
            let allowed: Vec<String> =
                routes.iter().filter(|route| route.is_for(role)).map(|route| format!("{route:?}")).collect();
            assert_eq!(allowed.join(" "), may, "{role}");
        }
    }

    #[test]
    fn queries_are_decoded() {
        let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        assert_eq!(query("trial=a%20b+c&json"), pairs(&[("trial", "a b c"), ("json", "")]));
        assert_eq!(query(""), pairs(&[]));
    }
}
