//! A self-signed certificate.

use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;

/// A fresh certificate for `localhost` and `127.0.0.1`.
pub struct Certificate {
    pem: String,
    key_pem: String,
    config: Arc<ServerConfig>,
}

impl Certificate {
    /// Creates a certificate.
    ///
    /// # Panics
    ///
    /// If the system has no source of randomness.
    pub fn new() -> Certificate {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(names).expect("a certificate can be made");
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("the key was just made");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider knows the standard versions")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .expect("the key belongs to the certificate");
        Certificate { pem: cert.pem(), key_pem: signing_key.serialize_pem(), config: Arc::new(config) }
    }

    /// Returns the certificate that a client has to trust, in PEM form.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns its private key in PEM form.
    pub fn key_pem(&self) -> &str {
        &self.key_pem
    }

    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.config)
    }
}

impl Default for Certificate {
    fn default() -> Certificate {
        Certificate::new()
    }
}
