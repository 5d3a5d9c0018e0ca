//! The page: files that were there when the program was built, or those of a folder.
//!
//! What the page may do is bounded by a policy that the browser enforces: nothing from elsewhere, no
//! script in the text, nobody may frame it.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::path::{Component, Path};

/// A file of the page.
struct Asset {
    /// Its path below the page's root.
    path: &'static str,
    bytes: &'static [u8],
    /// The same, compressed.
    gzip: Option<&'static [u8]>,
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

const POLICY: &str = "default-src 'self'; img-src 'self' blob: data:; worker-src 'self' blob:; \
     object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Shown when the program was built without a page.
const NO_PAGE: &str = "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Swarmyard</title>\n\
<h1>Swarmyard</h1>\n<p>This server runs, but it was built without its page. In the project's folder:</p>\n\
<pre>cargo xtask web\ncargo build</pre>\n\
<p>The run can be reached by <code>swarmyard watch</code> and <code>swarmyard ctl</code> meanwhile.</p></html>\n";

/// Answers with a file of the page.
pub(crate) fn get(path: &str, is_gzip_fine: bool, folder: Option<&Path>) -> Response {
    let path = if path.is_empty() { "index.html" } else { path };
    if let Some(folder) = folder {
        return match from_folder(folder, path) {
            Some(bytes) => answer(path, bytes.into(), false, "no-store"),
            None => nothing(),
        };
    }
    match ASSETS.iter().find(|a| a.path == path) {
        Some(asset) => {
            // Names of files under assets/ change with what is in them.
            let is_fixed = path.starts_with("assets/");
            let cache = if is_fixed { "public, max-age=31536000, immutable" } else { "no-cache" };
            match asset.gzip.filter(|_| is_gzip_fine) {
                Some(gzip) => answer(path, gzip.into(), true, cache),
                None => answer(path, asset.bytes.into(), false, cache),
            }
        }
        None if path == "index.html" => answer(path, NO_PAGE.as_bytes().into(), false, "no-store"),
        None => nothing(),
    }
}

fn nothing() -> Response {
    (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], "there is nothing here\n")
        .into_response()
}

fn answer(path: &str, bytes: std::borrow::Cow<'static, [u8]>, gzip: bool, cache: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, content_type(path)),
        (header::CACHE_CONTROL, cache),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::VARY, "Accept-Encoding"),
    ];
    let encoding = gzip.then_some([(header::CONTENT_ENCODING, "gzip")]);
    match encoding {
        Some(encoding) => (headers, encoding, bytes).into_response(),
        None => (headers, bytes).into_response(),
    }
}

/// A file of a folder; names with anything but plain parts lead nowhere.
fn from_folder(folder: &Path, path: &str) -> Option<Vec<u8>> {
    let is_plain =
        |c: Component<'_>| matches!(c, Component::Normal(n) if !n.to_string_lossy().starts_with('.'));
    if path.contains(['\0', '\\', '%']) || !Path::new(path).components().all(is_plain) {
        return None;
    }
    let folder = folder.canonicalize().ok()?;
    let file = folder.join(path).canonicalize().ok()?;
    if !file.starts_with(&folder) || !file.is_file() {
        return None;
    }
    std::fs::read(file).ok()
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, end)| end) {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "wasm" => "application/wasm",
        "webmanifest" => "application/manifest+json",
        "txt" | "toml" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
