//! A local server that imitates the hub: commits, etags, redirects of large files to another host, ranges, and everything that goes wrong.

pub mod proxy;

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a server does with the next request for a path, instead of answering well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Answers with this status.
    Status(u16),
    /// Sends this many bytes of the body and closes the connection, though the header promised all.
    DropAfter(usize),
    /// Sends a body of the right length with one bit changed.
    WrongBit,
    /// Sends the whole file although a range was asked for.
    IgnoreRange,
}

/// A file of the imitated hub.
#[derive(Clone)]
pub struct Served {
    pub content: Vec<u8>,
    /// As the hub sends it, with quotes.
    pub etag: String,
    /// Large files are redirected to the other server.
    pub large: bool,
}

/// A request as it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub range: Option<String>,
    pub authorization: Option<String>,
}

#[derive(Default)]
struct Inner {
    files: HashMap<String, Served>,
    faults: HashMap<String, Vec<Fault>>,
    log: Vec<Asked>,
}

/// A server on a port of this machine; it ends with the test process.
#[derive(Clone)]
pub struct Server {
    pub port: u16,
    inner: Arc<Mutex<Inner>>,
}

/// The commit that the imitation says it serves.
pub const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

impl Server {
    /// Starts a server; with `cdn`, it redirects large files there.
    pub fn start(cdn: Option<&Self>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap(); // a free port of this machine
        let port = listener.local_addr().unwrap().port(); // bound above
        let inner = Arc::new(Mutex::new(Inner::default()));
        let (shared, cdn_port) = (Arc::clone(&inner), cdn.map(|server| server.port));
        named(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                named(move || {
                    // A client that goes away ends its connection; that is no failure of the test.
                    let _ = serve(stream, &shared, cdn_port);
                });
            }
        });
        Self { port, inner }
    }

    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn put(&self, path: &str, file: Served) {
        self.inner.lock().unwrap().files.insert(path.to_owned(), file);
    }

    /// The next requests for `path` (GET, and HEAD where it is a status) go wrong in this order.
    pub fn fail(&self, path: &str, faults: &[Fault]) {
        self.inner.lock().unwrap().faults.insert(path.to_owned(), faults.to_vec());
    }

    pub fn log(&self) -> Vec<Asked> {
        self.inner.lock().unwrap().log.clone()
    }

    pub fn forget(&self) {
        self.inner.lock().unwrap().log.clear();
    }
}

fn named(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().name("hub".to_owned()).spawn(work).unwrap(); // a test without threads cannot go on
}

fn serve(stream: TcpStream, shared: &Mutex<Inner>, cdn: Option<u16>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).ok()? == 0 {
            return None;
        }
        let mut words = first.split_whitespace();
        let (method, path) = (words.next()?.to_owned(), words.next()?.split('?').next()?.to_owned());
        let mut headers = HashMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':')?;
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let (range, authorization) = (headers.get("range").cloned(), headers.get("authorization").cloned());
        let (file, fault) = {
            let mut inner = shared.lock().unwrap();
            inner.log.push(Asked { method: method.clone(), path: path.clone(), range: range.clone(), authorization });
            let due = inner.faults.get(&path).and_then(|faults| faults.first().cloned());
            let now = due.filter(|fault| method == "GET" || matches!(fault, Fault::Status(_)));
            if now.is_some()
                && let Some(faults) = inner.faults.get_mut(&path)
            {
                faults.remove(0);
            }
            (inner.files.get(&path).cloned(), now)
        };
        let answer = answer(&method, &path, range.as_deref(), file, fault, cdn);
        stream.write_all(&answer.bytes).ok()?;
        stream.flush().ok()?;
        if answer.close {
            return None;
        }
    }
}

struct Answer {
    bytes: Vec<u8>,
    close: bool,
}

fn plain(status: u16, headers: &str) -> Answer {
    Answer { bytes: format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n{headers}\r\n").into_bytes(), close: false }
}

fn answer(method: &str, path: &str, range: Option<&str>, file: Option<Served>, fault: Option<Fault>, cdn: Option<u16>) -> Answer {
    if let Some(Fault::Status(status)) = fault {
        return plain(status, "");
    }
    let Some(Served { mut content, etag, large }) = file else { return plain(404, "") };
    let total = content.len();
    if let (true, Some(port)) = (large, cdn) {
        let linked = format!("X-Repo-Commit: {COMMIT}\r\nX-Linked-Size: {total}\r\nX-Linked-Etag: {etag}\r\n");
        return plain(302, &format!("{linked}Location: http://127.0.0.1:{port}{path}?signature=1\r\n"));
    }
    let start = range.and_then(|range| range.strip_prefix("bytes=")?.trim_end_matches('-').parse::<usize>().ok());
    let start = start.filter(|_| fault != Some(Fault::IgnoreRange));
    if start.is_some_and(|start| start >= total) {
        return plain(416, &format!("Content-Range: bytes */{total}\r\n"));
    }
    if fault == Some(Fault::WrongBit) {
        *content.last_mut().unwrap() ^= 1; // files here are not empty
    }
    let body = &content[start.unwrap_or(0)..];
    let status = if start.is_some() { "206 Partial Content" } else { "200 OK" };
    let content_range = start.map_or(String::new(), |start| format!("Content-Range: bytes {start}-{}/{total}\r\n", total - 1));
    let mut bytes =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nX-Repo-Commit: {COMMIT}\r\nETag: {etag}\r\n{content_range}\r\n", body.len())
            .into_bytes();
    let mut close = false;
    if method == "GET" {
        let sent = match fault {
            Some(Fault::DropAfter(count)) => {
                close = true;
                &body[..count.min(body.len())]
            }
            _ => body,
        };
        bytes.extend_from_slice(sent);
    }
    Answer { bytes, close }
}
