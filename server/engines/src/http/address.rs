//! Server addresses: parsing, endpoints, and their form without secrets.

use std::net::IpAddr;

use reqwest::Url;

use super::ServerError;

/// Returns the address of `path` (it begins with `/`) on a server, whose address may end with the host, in the middle of the path, as
/// in `https://api.example/v1`, or with the whole path.
pub(crate) fn endpoint(server: &Url, path: &str) -> Url {
    let mut url = server.clone();
    url.set_path(&joined(server.path().trim_end_matches('/'), path));
    url
}

/// Parses the configured address.
pub(super) fn parse(given: &str) -> Result<Url, ServerError> {
    let wrong = |reason: String| ServerError::Address { address: without_secrets(given), reason };
    let url = Url::parse(given.trim()).map_err(|error| wrong(error.to_string()))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ => Err(wrong("it begins with neither http:// nor https://".to_owned())),
    }
}

/// Host and port, for messages.
pub(super) fn shown(url: &Url) -> String {
    let parts = [url.host_str().map(str::to_owned), url.port().map(|port| port.to_string())];
    parts.into_iter().flatten().collect::<Vec<_>>().join(":")
}

/// Whether the server is on this machine, which no proxy can reach.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Appends the missing part of the path to the base. Segments at the base's end that begin the path aren't repeated, and a base
/// that ends with the whole path is unchanged.
fn joined(base: &str, path: &str) -> String {
    let last = path.rfind('/').map_or(path, |at| &path[at..]);
    if base.ends_with(last) {
        return base.to_owned();
    }
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
    let overlap = ends.filter(|&end| base.ends_with(&path[..end])).last().unwrap_or(0);
    format!("{base}{}", &path[overlap..])
}

/// Removes user name, password and query from a configured address.
fn without_secrets(given: &str) -> String {
    let (rest, _) = given.split_once('?').unwrap_or((given, ""));
    rest.rsplit_once('@').map_or(rest, |(_, rest)| rest).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_completes_partial_urls() {
        for (given, path, expected) in [
            ("http://127.0.0.1:8080", "/v1/embeddings", "http://127.0.0.1:8080/v1/embeddings"),
            (" http://127.0.0.1:8080/ ", "/infill", "http://127.0.0.1:8080/infill"),
            ("https://api.example/v1", "/v1/embeddings", "https://api.example/v1/embeddings"),
            ("https://api.example/v1/embeddings/", "/v1/embeddings", "https://api.example/v1/embeddings"),
            (
                "https://api.example/openai/embeddings?api-version=2",
                "/v1/embeddings",
                "https://api.example/openai/embeddings?api-version=2",
            ),
            ("https://api.example/proxy/v1/", "/v1/completions", "https://api.example/proxy/v1/completions"),
            ("https://api.example/beta", "/beta/completions", "https://api.example/beta/completions"),
            ("https://api.example/xv1", "/v1/completions", "https://api.example/xv1/v1/completions"),
            (
                "https://api.example/openai/v1/completions?api-version=2",
                "/v1/completions",
                "https://api.example/openai/v1/completions?api-version=2",
            ),
            ("https://api.example/v1", "/v1/chat/completions", "https://api.example/v1/chat/completions"),
        ] {
            assert_eq!(endpoint(&parse(given).unwrap(), path).as_str(), expected);
        }
    }

    #[test]
    fn invalid_url_is_reported_without_its_password() {
        for given in
            ["127.0.0.1:8080", "file:///etc/passwd", "", "user:secret@host", "ftp://user:secret@host/"]
        {
            let error = parse(given).unwrap_err().to_string();
            assert!(error.contains("not a server address") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn loopback_addresses_are_recognized() {
        for (url, expected) in [
            ("http://127.0.0.1:1/", true),
            ("http://127.9.9.9/", true),
            ("http://[::1]:1/", true),
            ("http://localhost/", true),
            ("http://localhost.example/", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
