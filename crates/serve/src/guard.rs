//! Who may speak with the server: right host, right origin, right token.
//!
//! A page of somebody else, opened in a browser on this machine, can send requests to loopback. It cannot
//! choose the `Host` and `Origin` that the browser writes, so those are looked at: a name that is made to
//! point here (DNS rebinding) has the wrong `Host`, a foreign page the wrong `Origin`.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use std::io::Read as _;
use std::net::SocketAddr;

/// What is needed to speak with the server.
pub(crate) struct Guard {
    /// Where the server listens.
    address: SocketAddr,
    token: Option<String>,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, token: Option<String>) -> Guard {
        Guard { address, token }
    }

    /// Why a request is refused because of where it comes from.
    pub(crate) fn check_place(&self, headers: &HeaderMap) -> Result<(), String> {
        let text = |name| headers.get(name).map(|v: &axum::http::HeaderValue| v.to_str().unwrap_or("?"));
        let host = text(HOST).unwrap_or("");
        if headers.get_all(HOST).iter().count() != 1 || !self.is_own(host) {
            return Err(format!("this server is not `{host}`"));
        }
        match text(ORIGIN) {
            None => Ok(()),
            Some(origin) if origin.strip_prefix("http://") == Some(host) => Ok(()),
            Some(origin) => Err(format!("pages from `{origin}` may not speak with this server")),
        }
    }

    /// Whether a `Host` is this server. Beyond loopback it may have any name: there the token counts.
    fn is_own(&self, host: &str) -> bool {
        if !self.address.ip().is_loopback() {
            return !host.is_empty();
        }
        let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
        let is_port = port.parse() == Ok(self.address.port());
        is_port && ["localhost", "127.0.0.1", "[::1]"].contains(&name)
    }

    /// Whether a token is right; without a need for one, any is.
    pub(crate) fn check_token(&self, token: Option<&str>) -> Result<(), String> {
        match (&self.token, token) {
            (None, _) => Ok(()),
            (Some(wanted), Some(token)) if is_same(wanted.as_bytes(), token.as_bytes()) => Ok(()),
            (Some(_), Some(_)) => Err("the token is wrong".into()),
            (Some(_), None) => Err("this server needs a token".into()),
        }
    }

    /// The token of an HTTP request: in its header, or in its address.
    pub(crate) fn token_of<'a>(headers: &'a HeaderMap, query: Option<&'a str>) -> Option<&'a str> {
        let header = headers.get(AUTHORIZATION).and_then(|v| v.to_str().ok());
        let bearer = header.and_then(|v| v.strip_prefix("Bearer "));
        bearer.or_else(|| query?.split('&').find_map(|pair| pair.strip_prefix("token=")))
    }
}

/// Compares two secrets in a time that does not tell where they differ.
pub(crate) fn is_same(a: &[u8], b: &[u8]) -> bool {
    let differences = a.iter().zip(b).fold(0, |all, (x, y)| all | (x ^ y));
    a.len() == b.len() && std::hint::black_box(differences) == 0
}

/// A secret of 128 bits, in hexadecimal.
pub(crate) fn secret() -> std::io::Result<String> {
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut all = HeaderMap::new();
        for (name, value) in pairs {
            all.append(*name, value.parse().unwrap());
        }
        all
    }

    fn loopback() -> Guard {
        Guard::new("127.0.0.1:7077".parse().unwrap(), None)
    }

    #[test]
    fn only_names_of_this_machine_are_hosts() {
        for host in ["localhost:7077", "127.0.0.1:7077", "[::1]:7077"] {
            assert_eq!(loopback().check_place(&headers(&[("host", host)])), Ok(()), "{host}");
        }
        for host in ["", "localhost", "localhost:80", "evil.example:7077", "127.0.0.1.evil.example:7077"] {
            assert!(loopback().check_place(&headers(&[("host", host)])).is_err(), "{host}");
        }
        let twice = headers(&[("host", "localhost:7077"), ("host", "evil.example")]);
        assert!(loopback().check_place(&twice).is_err());
        assert!(loopback().check_place(&HeaderMap::new()).is_err());
    }

    #[test]
    fn a_page_of_somebody_else_is_refused() {
        let from = |origin| headers(&[("host", "localhost:7077"), ("origin", origin)]);
        assert!(loopback().check_place(&from("http://localhost:7077")).is_ok());
        for origin in ["null", "http://evil.example", "http://localhost:7078", "https://localhost:7077", ""] {
            assert!(loopback().check_place(&from(origin)).is_err(), "{origin}");
        }
    }

    #[test]
    fn a_token_is_compared_whole() {
        let guard = Guard::new("0.0.0.0:7077".parse().unwrap(), Some("secret".into()));
        assert!(guard.check_token(Some("secret")).is_ok());
        for wrong in [None, Some(""), Some("secre"), Some("secrets"), Some("Secret")] {
            assert!(guard.check_token(wrong).is_err(), "{wrong:?}");
        }
        assert!(loopback().check_token(None).is_ok());
    }

    #[test]
    fn secrets_are_long_and_differ() {
        let (a, b) = (secret().unwrap(), secret().unwrap());
        assert!(a.len() == 32 && a != b);
    }
}
