//! Reasons of a failed TLS handshake in plain words, each with its remedy.

use rustls::AlertDescription as Alert;
use rustls::{CertificateError, Error, InvalidMessage};

const OTHER: &str = "for a certificate of your own, name its authority in `tls_roots`, and for a server without encryption write http://";

/// Returns the reason and the remedy. `quoted` is the error as messages may quote it.
pub(super) fn explain(error: &Error, quoted: String) -> (String, &'static str) {
    let words = |reason: &str, remedy| (reason.to_owned(), remedy);
    match error {
        Error::InvalidCertificate(certificate) => explain_certificate(certificate, quoted),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            words("the server does not encrypt", "write http://, or correct the port")
        }
        Error::AlertReceived(Alert::ProtocolVersion | Alert::HandshakeFailure) => {
            (quoted, "the server has to offer TLS 1.2 or 1.3")
        }
        Error::AlertReceived(Alert::UnknownCA) => words(
            "the server does not know the authority of your certificate",
            "use one of the team's authority in `tls_identity`, or ask the server's administrator",
        ),
        Error::AlertReceived(Alert::CertificateExpired) => {
            words("your certificate has expired or is not valid yet", "renew it, and correct `tls_identity`")
        }
        Error::AlertReceived(
            Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateUnknown
            | Alert::AccessDenied,
        ) => (
            format!("the server refuses your certificate ({quoted})"),
            "use one for clients in `tls_identity`, or ask the server's administrator",
        ),
        _ => (quoted, OTHER),
    }
}

fn explain_certificate(error: &CertificateError, quoted: String) -> (String, &'static str) {
    use CertificateError as C;
    let words = |reason: &str, remedy| (reason.to_owned(), remedy);
    match error {
        C::UnknownIssuer => {
            words("the authority of its certificate is unknown", "name its authority in `tls_roots`")
        }
        C::Expired | C::ExpiredContext { .. } => words(
            "its certificate has expired",
            "ask the server's administrator for a new one, or correct the clock of this machine",
        ),
        C::NotValidYet | C::NotValidYetContext { .. } => {
            words("its certificate is not valid yet", "correct the clocks of both machines")
        }
        C::NotValidForName | C::NotValidForNameContext { .. } => {
            (quoted, "write the address with a name of the certificate, or issue it for this name")
        }
        // The name is that of `webpki`, whose errors are opaque.
        C::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => words(
            "its certificate is that of an authority",
            "issue one for a server: basicConstraints=CA:FALSE",
        ),
        _ => (quoted, OTHER),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::OtherError;

    use super::*;

    #[derive(Debug)]
    struct CaUsedAsEndEntity;

    impl std::fmt::Display for CaUsedAsEndEntity {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("opaque")
        }
    }

    impl std::error::Error for CaUsedAsEndEntity {}

    #[test]
    fn each_reason_has_its_own_remedy() {
        let authority = CertificateError::Other(OtherError(Arc::new(CaUsedAsEndEntity)));
        for (error, reason, remedy) in [
            (CertificateError::UnknownIssuer.into(), "is unknown", "`tls_roots`"),
            (CertificateError::Expired.into(), "has expired", "new one"),
            (CertificateError::NotValidYet.into(), "not valid yet", "clocks"),
            (CertificateError::NotValidForName.into(), "quoted", "name of the certificate"),
            (authority.into(), "of an authority", "CA:FALSE"),
            (Error::AlertReceived(Alert::UnknownCA), "your certificate", "`tls_identity`"),
            (Error::AlertReceived(Alert::CertificateExpired), "your certificate", "renew"),
            (Error::AlertReceived(Alert::UnsupportedCertificate), "(quoted)", "for clients"),
            (Error::AlertReceived(Alert::ProtocolVersion), "quoted", "TLS 1.2"),
            (InvalidMessage::InvalidContentType.into(), "does not encrypt", "http://"),
            (Error::DecryptError, "quoted", "`tls_roots`"),
        ] {
            let (found, help) = explain(&error, "quoted".to_owned());
            assert!(found.contains(reason) && help.contains(remedy), "{error:?}: {found}; {help}");
        }
    }
}
