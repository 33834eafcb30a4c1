//! Answers to the requests that were let in.

use std::sync::Arc;

use http_server::{ResponseBody, json_response, refusal, response};
use hyper::header::{CONTENT_ENCODING, HeaderMap};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use super::admission::{Admitted, Route, unavailable};
use super::{ServerState, blocking, dashboard, in_turn, scoreboard};
use crate::account::AccountRole;
use crate::ingest::{self, BundleRequest, IngestError};
use crate::otlp::{self, OtlpError, Signal};
use crate::packed;
use crate::protocol::{REPOSITORY_HEADER, is_repository};
use crate::store::{CollectStoreError, TelemetryRecord, now};

/// Rows of a page if the request names no number, and the most.
const PAGE_ROWS: u32 = 500;
/// Entries of the audit log likewise.
const AUDIT_ENTRIES: u32 = 200;
const MAX_AUDIT_ENTRIES: u32 = 10_000;

pub(super) async fn answer(state: &Arc<ServerState>, admitted: Admitted<'_>) -> Response<ResponseBody> {
    let answered = match admitted.route {
        Route::Bundles => receive_bundle(state, &admitted).await,
        Route::Traces => receive_telemetry(state, &admitted, Signal::Spans).await,
        Route::Logs => receive_telemetry(state, &admitted, Signal::Logs).await,
        Route::Status => status(state, &admitted).await,
        Route::Forget => forget(state, &admitted).await,
        Route::Rows => rows(state, &admitted).await,
        Route::Developers => developers(state).await,
        Route::Copies => note_copy(state, &admitted).await,
        Route::Audit => audit(state, &admitted).await,
        Route::Scoreboard => scoreboard::answer(state, &admitted).await,
        Route::Dashboard => dashboard::answer(state, &admitted).await,
    };
    answered.unwrap_or_else(|refused| *refused.0)
}

/// The refusal of a request.
pub(super) struct Refused(Box<Response<ResponseBody>>);

impl From<Response<ResponseBody>> for Refused {
    fn from(response: Response<ResponseBody>) -> Refused {
        Refused(Box::new(response))
    }
}

fn refused<T>(status: StatusCode, message: &str) -> Result<T, Refused> {
    Err(refusal(status, message).into())
}

/// An answer, or the refusal of a request.
pub(super) type Answer = Result<Response<ResponseBody>, Refused>;

/// Returns the result of blocking work, or the response that says why there is none.
pub(super) fn done<T>(done: Option<Result<T, CollectStoreError>>) -> Result<T, Refused> {
    match done {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(store_refusal(&error).into()),
        None => refused(StatusCode::INTERNAL_SERVER_ERROR, "the request cannot be processed"),
    }
}

fn store_refusal(error: &CollectStoreError) -> Response<ResponseBody> {
    match error {
        CollectStoreError::ForeignRow(_) => refusal(StatusCode::CONFLICT, &error.to_string()),
        CollectStoreError::NoAccount(_) => refusal(StatusCode::NOT_FOUND, &error.to_string()),
        CollectStoreError::Row { .. } => {
            tracing::error!(%error, "a row is damaged");
            refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string())
        }
        _ => {
            // The message may name hosts and tables, which a client must not see.
            tracing::error!(%error, "the database failed");
            unavailable("the database does not take the request")
        }
    }
}

async fn receive_bundle(state: &Arc<ServerState>, admitted: &Admitted<'_>) -> Answer {
    let is_packed = is_packed(&admitted.headers)?;
    let repository = repository(&admitted.headers)?;
    let (shared, body, account) = (Arc::clone(state), admitted.body.clone(), admitted.account.clone());
    let received = in_turn(state, &state.workers, move |store| {
        let request =
            BundleRequest { body: &body, is_packed, repository: &repository, account: &account, now: now() };
        match ingest::prepare(&request, &shared.policy) {
            Ok(upload) => store.put(&upload).map(Ok),
            Err(error) => {
                // A refusal stays a refusal if the log cannot be written.
                let _ = store.audit(&account.name, "refuse", "bundle", &error.to_string());
                Ok(Err(error))
            }
        }
    });
    match done(received.await)? {
        Ok(receipt) => Ok(json_response(StatusCode::OK, &json!(receipt))),
        Err(error) => refused(ingest_status(&error), &error.to_string()),
    }
}

fn ingest_status(error: &IngestError) -> StatusCode {
    match error {
        IngestError::TooLong { .. } | IngestError::TooManyRows { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        IngestError::Policy(_) => StatusCode::UNPROCESSABLE_ENTITY,
        _ => StatusCode::BAD_REQUEST,
    }
}

fn is_packed(headers: &HeaderMap) -> Result<bool, Refused> {
    match headers.get(CONTENT_ENCODING).map(|value| value.as_bytes()) {
        None | Some(b"identity") => Ok(false),
        Some(b"gzip") => Ok(true),
        Some(_) => refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send the body as it is, or in gzip's format"),
    }
}

fn repository(headers: &HeaderMap) -> Result<String, Refused> {
    let name = headers.get(REPOSITORY_HEADER).map(|value| value.to_str().ok()).unwrap_or(Some(""));
    match name.filter(|name| is_repository(name)) {
        Some(name) => Ok(name.to_owned()),
        None => refused(
            StatusCode::BAD_REQUEST,
            "the name of the repository is not one of `ghostbench collect send`",
        ),
    }
}

async fn receive_telemetry(state: &Arc<ServerState>, admitted: &Admitted<'_>, signal: Signal) -> Answer {
    let is_packed = is_packed(&admitted.headers)?;
    let (body, account) = (admitted.body.clone(), admitted.account.name.clone());
    let oldest = state.policy.oldest(now());
    let received = in_turn(state, &state.workers, move |store| match telemetry(&body, is_packed, signal) {
        Ok(records) => store.put_telemetry(&account, &records, oldest).map(Ok),
        Err(error) => Ok(Err(error)),
    });
    match done(received.await)? {
        Ok(_) => Ok(json_response(StatusCode::OK, &otlp::accepted())),
        Err(error) => refused(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

fn telemetry(body: &[u8], is_packed: bool, signal: Signal) -> Result<Vec<TelemetryRecord>, OtlpError> {
    if !is_packed {
        return otlp::records(body, signal);
    }
    let unpacked = packed::gunzip(body, ingest::MAX_BUNDLE_BYTES);
    otlp::records(&unpacked.map_err(|error| OtlpError::Json(error.to_string()))?, signal)
}

async fn status(state: &Arc<ServerState>, admitted: &Admitted<'_>) -> Answer {
    let (name, role) = (admitted.account.name.clone(), admitted.account.role);
    let found = blocking(state, move |store| {
        let own = store.account_summary(&name)?;
        let mut status = json!({ "account": name, "role": role.name(), "own": own });
        if role.may_read() {
            status["all"] = json!(store.summary()?);
            status["copies"] = json!(store.copies()?);
        }
        Ok(status)
    });
    Ok(json_response(StatusCode::OK, &done(found.await)?))
}

/// Deletes rows of the account, or of the account that an administrator names.
async fn forget(state: &Arc<ServerState>, admitted: &Admitted<'_>) -> Answer {
    let request: Value = match admitted.body.is_empty() {
        true => json!({}),
        false => serde_json::from_slice(&admitted.body)
            .map_err(|_| refusal(StatusCode::BAD_REQUEST, "the body is no JSON"))?,
    };
    let field = |name: &str| request.get(name).and_then(Value::as_str).map(str::to_owned);
    let actor = admitted.account.name.clone();
    let account = field("account").unwrap_or_else(|| actor.clone());
    if account != actor && admitted.account.role != AccountRole::Admin {
        return refused(StatusCode::FORBIDDEN, "only an administrator deletes the rows of others");
    }
    let repository = field("repository");
    if repository.as_deref().is_some_and(|name| name.is_empty() || !is_repository(name)) {
        return refused(StatusCode::BAD_REQUEST, "this is no name of a repository");
    }
    let deleted = blocking(state, move |store| store.forget(&actor, &account, repository.as_deref()));
    Ok(json_response(StatusCode::OK, &json!(done(deleted.await)?)))
}

/// A page of rows, and how to go on.
async fn rows(state: &Arc<ServerState>, admitted: &Admitted<'_>) -> Answer {
    let after = number(admitted, "after")?.unwrap_or(0);
    let limit =
        number(admitted, "limit")?.map_or(PAGE_ROWS, |limit| u32::try_from(limit).unwrap_or(PAGE_ROWS));
    let limit = limit.clamp(1, PAGE_ROWS);
    let actor = admitted.account.name.clone();
    let page = in_turn(state, &state.reads, move |store| {
        let page = store.export(after, limit)?;
        if !page.rows.is_empty() {
            store.audit(&actor, "read rows", "", &format!("{} after {after}", page.rows.len()))?;
        }
        Ok(page)
    });
    let page = done(page.await)?;
    let end = json!({ "next": page.next, "is_last": page.is_last });
    let lines: String = page.rows.iter().chain([&end]).map(|row| format!("{row}\n")).collect();
    Ok(response(StatusCode::OK, "application/jsonl", lines))
}

/// What a copy has to keep: the developers with rows, and the time of the oldest ones.
async fn developers(state: &Arc<ServerState>) -> Answer {
    let oldest = state.policy.oldest(now());
    let found = blocking(state, move |store| {
        // Read before the developers: a deletion in between makes the copy ask again, never miss it.
        let deletions = store.deletions()?;
        Ok(
            json!({ "deletions": deletions, "developers": store.developers()?, "oldest": (oldest > i64::MIN).then_some(oldest) }),
        )
    });
    Ok(json_response(StatusCode::OK, &done(found.await)?))
}

async fn note_copy(state: &Arc<ServerState>, admitted: &Admitted<'_>) -> Answer {
    let wrong =
        || refusal(StatusCode::BAD_REQUEST, "the body is no JSON with `name`, `cursor` and `deletions`");
    let request: Value = serde_json::from_slice(&admitted.body).map_err(|_| wrong())?;
    let name =
        request["name"].as_str().filter(|name| !name.is_empty() && name.len() <= 256 && !name.contains('\0'));
    let name = name.ok_or_else(wrong)?.to_owned();
    let cursor = request["cursor"].as_i64().ok_or_else(wrong)?;
    let deletions = request["deletions"].as_i64().ok_or_else(wrong)?;
    let actor = admitted.account.name.clone();
    let noted = blocking(state, move |store| store.note_copy(&actor, &name, cursor, deletions));
    done(noted.await)?;
    Ok(json_response(StatusCode::OK, &json!({})))
}

async fn audit(state: &Arc<ServerState>, admitted: &Admitted<'_>) -> Answer {
    let limit = number(admitted, "limit")?
        .map_or(AUDIT_ENTRIES, |limit| u32::try_from(limit).unwrap_or(AUDIT_ENTRIES));
    let limit = limit.min(MAX_AUDIT_ENTRIES);
    let entries = done(blocking(state, move |store| store.audit_log(limit)).await)?;
    Ok(json_response(StatusCode::OK, &json!({ "entries": entries })))
}

/// Returns a value of the query.
pub(super) fn value<'a>(admitted: &'a Admitted<'_>, name: &str) -> Option<&'a str> {
    admitted.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Returns a number of the query.
pub(super) fn number(admitted: &Admitted<'_>, name: &str) -> Result<Option<i64>, Refused> {
    let parse = |text: &str| {
        text.parse()
            .map_err(|_| Refused::from(refusal(StatusCode::BAD_REQUEST, &format!("`{name}` is no number"))))
    };
    value(admitted, name).map(parse).transpose()
}
