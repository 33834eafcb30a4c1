//! Where a request comes from, as far as its headers tell: a web page of others, or a program.

use hyper::header::{HOST, HeaderMap, ORIGIN};

/// Whether the request is one of a web page, other than a page of this machine.
pub fn is_foreign_page(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    if site == Some(b"cross-site") {
        return true;
    }
    let Some(origin) = headers.get(ORIGIN) else { return false };
    let Ok(origin) = origin.to_str() else { return true };
    match origin.split_once("://") {
        Some(("http" | "https", host)) => !is_local(host),
        // Programs that are built like pages, such as editors, have a scheme of their own.
        Some(_) => false,
        // `null`: a page without an origin.
        None => true,
    }
}

/// Whether a request names this machine, and nothing else, as its host.
pub fn is_local_host(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    host.is_some_and(is_local) && hosts.next().is_none()
}

/// Whether a host, maybe with a port, is this machine by its own name.
fn is_local(host: &str) -> bool {
    let without_port = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or(rest, |(address, _)| address),
        None => host.split_once(':').map_or(host, |(name, _)| name),
    };
    let is_loopback = without_port.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || without_port.eq_ignore_ascii_case("localhost")
}

/// Compares without stopping at the first difference, whose time would reveal it.
pub fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |seen, (one, other)| seen | (one ^ other));
    one.len() == other.len() && differences == 0
}
