//! Encryption of lanes, by the same certificates as the rest of the mesh.
//!
//! In: a connection and the files of [`Keys`]. Out: the same connection, after both sides have shown a certificate of the
//! same authority. Each lane goes one way, so one side only writes and the other only reads after that.

use crate::Lost;
use crate::keys::Keys;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// A connection, encrypted or not.
pub(super) trait Line: Read + Write + Send {}
impl<T: Read + Write + Send> Line for T {}

/// Both sides of an encrypted lane.
pub(super) struct Tls {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

/// Bytes nobody can guess.
pub(super) fn secret() -> Result<[u8; 32], Lost> {
    let mut bytes = [0; 32];
    let filled = ring::default_provider().secure_random.fill(&mut bytes);
    filled.map_err(|_| failed("make a secret", "the system has no randomness"))?;
    Ok(bytes)
}

impl Tls {
    /// Reads the files.
    pub(super) fn new(keys: &Keys) -> Result<Tls, Lost> {
        let provider: Arc<CryptoProvider> = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        for authority in certificates(&keys.authority)? {
            roots.add(authority).map_err(|e| unusable(&keys.authority, &e))?;
        }
        let roots = Arc::new(roots);
        let own = certificates(&keys.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&keys.key).map_err(|e| unusable(&keys.key, &e))?;
        let client = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&TLS13])
            .map_err(|e| unusable(&keys.key, &e))?
            .with_root_certificates(roots.clone())
            .with_client_auth_cert(own.clone(), key.clone_key())
            .map_err(|e| unusable(&keys.certificate, &e))?;
        let known = WebPkiClientVerifier::builder_with_provider(roots, provider.clone())
            .build()
            .map_err(|e| unusable(&keys.authority, &e))?;
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(|e| unusable(&keys.key, &e))?
            .with_client_cert_verifier(known)
            .with_single_cert(own, key)
            .map_err(|e| unusable(&keys.certificate, &e))?;
        // Nobody would read them: the side that connects only writes.
        server.send_tls13_tickets = 0;
        Ok(Tls { client: Arc::new(client), server: Arc::new(server) })
    }

    /// The side that connected, to a host of this name or address.
    pub(super) fn connect(&self, host: &str, stream: impl Line + 'static) -> io::Result<Box<dyn Line>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let connection = ClientConnection::new(self.client.clone(), name).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(connection, stream)))
    }

    /// The side that was connected to.
    pub(super) fn accept(&self, stream: impl Line + 'static) -> io::Result<Box<dyn Line>> {
        let connection = ServerConnection::new(self.server.clone()).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(connection, stream)))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Lost> {
    let all = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    all.map_err(|e| unusable(path, &e))
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> Lost {
    failed(&format!("use `{}`", path.display()), &why.to_string())
}

fn failed(what: &str, why: &str) -> Lost {
    Lost::Failed { what: what.into(), why: why.into() }
}
