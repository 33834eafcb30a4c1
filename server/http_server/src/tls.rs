//! TLS of a server: its certificate, and the authority of its clients' certificates.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::{ParsedCertificate, ServerConfig, WebPkiClientVerifier};
use rustls::{CertificateError, RootCertStore};
use thiserror::Error;
pub use tokio_rustls::TlsAcceptor;

/// Files of a server with TLS, in PEM form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and those between it and its authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Authorities of the clients' certificates. Clients without a certificate are served too, and need another proof.
    pub client_authorities: Option<PathBuf>,
}

/// TLS that cannot be set up.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file cannot be read, or holds something else.
    #[error("{}: {reason}; name a readable file in PEM form", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The key is that of another certificate.
    #[error(
        "the key in {} does not belong to the certificate in {}; name the key that it was issued for",
        key.display(),
        certificate.display()
    )]
    OtherKey {
        /// The file of the key.
        key: PathBuf,
        /// The file of the certificate.
        certificate: PathBuf,
    },
    /// The certificate cannot be used.
    #[error("the certificate in {} cannot be used: {reason}", path.display())]
    Unusable {
        /// The file of the certificate.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

impl TlsFiles {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read, or its content cannot be used.
    pub fn acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        let unusable = |error: rustls::Error| match error {
            rustls::Error::InconsistentKeys(_) => {
                TlsError::OtherKey { key: self.key.clone(), certificate: self.certificate.clone() }
            }
            error => TlsError::Unusable { path: self.certificate.clone(), reason: error.to_string() },
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| pem_error(&self.key, &error, "it has no private key without a passphrase"))?;
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?;
        let builder = match &self.client_authorities {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots.add(certificate).map_err(|error| file_error(path, &error))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                    .allow_unauthenticated()
                    .build()
                    .map_err(|error| file_error(path, &error))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let config = builder.with_single_cert(chain(&self.certificate)?, key).map_err(unusable)?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    /// Returns when the server's certificate expires; `None` if its dates are invalid.
    ///
    /// # Errors
    /// Its file cannot be read, or has none.
    pub fn expiry(&self) -> Result<Option<SystemTime>, TlsError> {
        let expiry = chain(&self.certificate)?.first().and_then(not_after);
        Ok(expiry.map(|expiry| SystemTime::UNIX_EPOCH + Duration::from_secs(expiry.as_secs())))
    }
}

/// Returns the end of a certificate's validity. The library reports it only for an expired certificate, so this one is verified at the latest
/// time there is. The dates are checked first, so it needs no trusted authority.
fn not_after(certificate: &CertificateDer<'_>) -> Option<UnixTime> {
    let certificate = ParsedCertificate::try_from(certificate).ok()?;
    let late = UnixTime::since_unix_epoch(Duration::MAX);
    match verify_server_cert_signed_by_trust_anchor(&certificate, &RootCertStore::empty(), &[], late, &[]) {
        Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext { not_after, .. })) => {
            Some(not_after)
        }
        _ => None,
    }
}

/// Returns the first certificate of a file in PEM form, in DER form.
///
/// # Errors
/// The file cannot be read, or has none.
pub fn certificate_of(path: &Path) -> Result<Vec<u8>, TlsError> {
    Ok(chain(path)?.first().map(|certificate| certificate.to_vec()).unwrap_or_default())
}

/// Returns a certificate, and those between it and its authority.
fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates = certificates(path)?;
    match certificates.first().is_some_and(|first| ParsedCertificate::try_from(first).is_ok()) {
        true => Ok(certificates),
        false => Err(file_error(path, &"its first certificate is damaged")),
    }
}

/// Returns the certificates of a file: one at least.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| pem_error(path, &error, "it has no certificate"))?;
    match certificates.is_empty() {
        true => Err(file_error(path, &"it has no certificate")),
        false => Ok(certificates),
    }
}

fn pem_error(path: &Path, error: &pem::Error, missing: &str) -> TlsError {
    match error {
        pem::Error::Io(error) => file_error(path, error),
        pem::Error::NoItemsFound => file_error(path, &missing),
        // Its own message prints bytes.
        pem::Error::MissingSectionEnd { .. } | pem::Error::IllegalSectionStart { .. } => {
            file_error(path, &"it is incomplete")
        }
        error => file_error(path, error),
    }
}

fn file_error(path: &Path, reason: &dyn ToString) -> TlsError {
    TlsError::File { path: path.to_owned(), reason: reason.to_string() }
}
