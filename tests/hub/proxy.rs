//! A local HTTP proxy that tunnels everything to one server of this machine, whatever name it is asked for.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::named;

/// What a proxy was asked to connect to, as `host:port`.
#[derive(Clone)]
pub struct Proxy {
    pub port: u16,
    asked: Arc<Mutex<Vec<String>>>,
    logins: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Starts a proxy whose tunnels all end at port `to`; without it every tunnel is refused.
    pub fn start(to: Option<u16>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap(); // a free port of this machine
        let proxy = Self { port: listener.local_addr().unwrap().port(), asked: Arc::default(), logins: Arc::default() }; // bound above
        let shared = proxy.clone();
        named(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                named(move || {
                    // A client that goes away ends its connection; that is no failure of the test.
                    let _ = shared.serve(stream, to);
                });
            }
        });
        proxy
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Each place that was asked for, once, in the order of asking.
    pub fn asked(&self) -> Vec<String> {
        let mut asked = self.asked.lock().unwrap().clone();
        asked.dedup();
        asked
    }

    /// The logins that came with the requests.
    pub fn logins(&self) -> Vec<String> {
        self.logins.lock().unwrap().clone()
    }

    fn serve(&self, mut stream: TcpStream, to: Option<u16>) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let mut first = String::new();
        reader.read_line(&mut first).ok()?;
        let mut words = first.split_whitespace();
        if words.next()? != "CONNECT" {
            return stream.write_all(b"HTTP/1.1 405 X\r\nContent-Length: 0\r\n\r\n").ok();
        }
        self.asked.lock().unwrap().push(words.next()?.to_owned());
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("proxy-authorization")
            {
                self.logins.lock().unwrap().push(value.trim().to_owned());
            }
        }
        let Some(port) = to else {
            return stream.write_all(b"HTTP/1.1 502 X\r\nContent-Length: 0\r\n\r\n").ok();
        };
        let mut server = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").ok()?;
        let (mut back_from, mut back_to) = (server.try_clone().ok()?, stream);
        named(move || {
            let _ = std::io::copy(&mut back_from, &mut back_to);
            let _ = back_to.shutdown(Shutdown::Both);
        });
        std::io::copy(&mut reader, &mut server).ok()?;
        server.shutdown(Shutdown::Both).ok()
    }
}
