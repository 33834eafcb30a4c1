//! One request: let in or refused, passed through or answered here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use config::EngineKind;
use engines::PassThrough;
use http_server::{BodyLimits, ResponseBody, read_body, refusal};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, StatusCode};
use recording::TrialSession;
use tokio::sync::oneshot;

use crate::chosen_engine::{ChosenEngine, EngineServers};
use crate::dialect::{Dialect, Route, route};
use crate::guard::{Guard, Refusal};
use crate::pass_through::{AnswerObserver, PassingRequest, pass};
use crate::routes::tabby_event;
use crate::trial_link::{AnswerSource, SeenRequest, TrialLink};
use crate::{own_answer, probes};

/// Limits of a body. Plugins send some hundred kilobytes at most.
const BODY_LIMITS: BodyLimits = BodyLimits { bytes: 16 << 20, time: Duration::from_secs(30) };

/// What all requests share.
pub(crate) struct FrontDoorState {
    /// The session.
    pub(crate) session: TrialSession,
    /// Recording.
    pub(crate) link: TrialLink,
    /// Servers of engines.
    pub(crate) servers: EngineServers,
    /// Lets requests in.
    pub(crate) guard: Guard,
}

/// Answers a request.
pub(crate) async fn answer(state: Arc<FrontDoorState>, request: Request<Incoming>) -> Response<ResponseBody> {
    let arrived = Instant::now();
    match admit(&state, request).await {
        Ok(request) => request.answer(&state, arrived).await,
        Err(response) => response,
    }
}

/// A request that was let in.
struct AdmittedRequest {
    route: Route,
    passing: PassingRequest,
    chosen: Arc<ChosenEngine>,
}

async fn admit(
    state: &FrontDoorState,
    request: Request<Incoming>,
) -> Result<AdmittedRequest, Response<ResponseBody>> {
    let (parts, body) = request.into_parts();
    if let Some(Refusal { status, message }) = state.guard.refusal(&parts.method, &parts.headers) {
        return Err(refusal(status, message));
    }
    let not_found = || refusal(StatusCode::NOT_FOUND, "no completion plugin is known to request this path");
    let path_route = route(parts.uri.path()).ok_or_else(not_found)?;
    let is_post = matches!(path_route, Route::Completion(_) | Route::TabbyEvent);
    if is_post && parts.method != Method::POST {
        return Err(refusal(StatusCode::METHOD_NOT_ALLOWED, "use POST"));
    }
    let body = read_body(body, BODY_LIMITS).await?;
    let route = path_route.of_body(&body);
    let gone = || refusal(StatusCode::SERVICE_UNAVAILABLE, "the front door is closing");
    let chosen = state.servers.choose(&state.session).await.ok_or_else(gone)?;
    let mut headers = parts.headers;
    state.guard.remove_token(&mut headers);
    let path = parts.uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string);
    let passing = PassingRequest { method: parts.method, path, headers, body };
    Ok(AdmittedRequest { route, passing, chosen })
}

impl AdmittedRequest {
    async fn answer(self, state: &Arc<FrontDoorState>, arrived: Instant) -> Response<ResponseBody> {
        if self.route == Route::TabbyEvent
            && let Some(event) = tabby_event::parse(&self.passing.path, &self.passing.body)
        {
            state.link.event(event);
        }
        let spoken = |(kind, _): &&(EngineKind, Arc<PassThrough>)| self.route.is_spoken_by(*kind);
        match (self.chosen.server.as_ref().filter(spoken), self.route) {
            (Some((_, server)), Route::Completion(dialect)) => {
                let server = Arc::clone(server);
                let observer = self.chosen.trial.is_some().then(|| self.observe(state, arrived, dialect));
                pass(&server, self.passing, observer).await
            }
            (Some((_, server)), _) => pass(&Arc::clone(server), self.passing, None).await,
            (None, Route::Completion(dialect)) => {
                own_answer::answer(state, dialect, self.passing.body, self.chosen, arrived).await
            }
            (None, Route::Probe(probe)) => probes::answer(probe, &self.chosen.identity),
            (None, Route::TabbyEvent) => probes::empty(),
            (None, Route::Status) => probes::status(&state.session, &self.chosen),
            (None, Route::Helper(_)) => refusal(
                StatusCode::NOT_IMPLEMENTED,
                "the engine behind the front door does not speak this API",
            ),
        }
    }

    /// Passes the request on to the recording, and returns what reads its answer.
    fn observe(&self, state: &Arc<FrontDoorState>, arrived: Instant, dialect: Dialect) -> AnswerObserver {
        let number = state.link.next_number();
        let (passing, passed) = oneshot::channel();
        state.link.requested(SeenRequest {
            number,
            arrived,
            dialect,
            body: self.passing.body.clone(),
            chosen: Arc::clone(&self.chosen),
            answer: AnswerSource::PassesThrough(passed),
        });
        AnswerObserver::new(Arc::clone(state), Arc::clone(&self.chosen), number, passing)
    }
}
