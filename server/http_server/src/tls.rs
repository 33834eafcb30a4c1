//! TLS of a server: its certificate, and the authority of its clients' certificates.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ServerConfig, WebPkiClientVerifier};
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
    #[error("{}: {reason}; name a file in PEM form", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// Certificate and key do not fit together, or cannot be used.
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
        let unusable = |reason: &dyn ToString| TlsError::Unusable {
            path: self.certificate.clone(),
            reason: reason.to_string(),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| file_error(&self.key, &error))?;
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&error))?;
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
        let config = builder
            .with_single_cert(certificates(&self.certificate)?, key)
            .map_err(|error| unusable(&error))?;
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

/// Returns the first certificate of a file in PEM form, in DER form.
///
/// # Errors
/// The file cannot be read, or has none.
pub fn certificate_of(path: &Path) -> Result<Vec<u8>, TlsError> {
    Ok(certificates(path)?.first().map(|certificate| certificate.to_vec()).unwrap_or_default())
}

/// Returns the certificates of a file: one at least.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| file_error(path, &error))?;
    match certificates.is_empty() {
        true => Err(file_error(path, &io::Error::other("it has no certificate"))),
        false => Ok(certificates),
    }
}

fn file_error(path: &Path, reason: &dyn ToString) -> TlsError {
    TlsError::File { path: path.to_owned(), reason: reason.to_string() }
}
