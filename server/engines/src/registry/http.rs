//! Creates engines behind HTTP from their settings.

use std::fs;

use config::{EngineSettings, NO_PROXY, Secret};

use crate::{
    FimSetting, HttpEngine, HttpLimits, HttpServerConfig, HttpSettings, PassThrough, Proxy, Sampling,
};

/// Creates the engine of these settings, or returns why that fails.
pub(super) fn engine(settings: &EngineSettings) -> Result<HttpEngine, String> {
    let url = settings.url.clone().ok_or("it needs `url`")?;
    HttpEngine::new(http_settings(settings, url)?).map_err(|error| error.to_string())
}

/// Returns the settings of the requests to the server at an address.
pub(super) fn http_settings(settings: &EngineSettings, url: String) -> Result<HttpSettings, String> {
    Ok(HttpSettings {
        name: settings.name.clone(),
        kind: settings.kind,
        server: server(settings, url)?,
        model: settings.model.clone(),
        fim: FimSetting::parse(settings.fim.as_deref()),
        sampling: Sampling { temperature: settings.temperature, ..Sampling::greedy(settings.max_tokens) },
        extra: settings.extra_body.clone(),
        context_window: settings.context_window.map(u64::from),
        timeout: None,
    })
}

/// Returns the server of an engine for requests of other programs; `None` for an engine without an address.
///
/// # Errors
/// The settings are invalid; the message says why.
pub fn pass_through(settings: &EngineSettings) -> Result<Option<PassThrough>, String> {
    let Some(url) = settings.url.clone() else { return Ok(None) };
    PassThrough::new(&server(settings, url)?).map(Some).map_err(|error| error.to_string())
}

fn server(settings: &EngineSettings, url: String) -> Result<HttpServerConfig, String> {
    let roots = settings.tls_roots.as_ref().map(|path| {
        fs::read(path).map_err(|error| format!("cannot read the `tls_roots` {}: {error}", path.display()))
    });
    Ok(HttpServerConfig {
        url,
        key: settings.api_key.clone(),
        headers: settings.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        proxy: proxy(settings.proxy.as_ref()),
        root_certificates: roots.transpose()?,
        identity: None,
        limits: HttpLimits {
            connect: settings.connect_timeout,
            first_byte: settings.first_byte_timeout,
            idle: settings.idle_timeout,
            ..HttpLimits::DEFAULT
        },
        max_concurrency: settings.concurrency,
    })
}

fn proxy(setting: Option<&Secret>) -> Proxy {
    match setting.map(Secret::expose) {
        None => Proxy::System,
        Some(NO_PROXY) => Proxy::Direct,
        Some(address) => Proxy::At(address.to_owned()),
    }
}
