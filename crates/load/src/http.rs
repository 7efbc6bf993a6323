//! HTTP/1.1 with `Connection: close` (RFC 9112): a request and its answer.

use crate::failure::{Expectation, Failure, Phase};
use crate::service::Service;

/// A head longer than this is refused: nginx and Apache send some 300 bytes.
const LONGEST_HEAD: usize = 16 * 1024;
/// A body longer than this, in bytes, is refused: the most that keymark's own servers are given to serve.
const LONGEST_BODY: u64 = 16 * 1024 * 1024;
/// Limit of a body that is kept until it is checked: services answer with some 2000 bytes.
const LONGEST_KEPT: u64 = 256 * 1024;
/// More fields than this are refused.
const MOST_FIELDS: usize = 64;

/// The request that every transaction with a TLS server sends.
pub(crate) fn request(host: &str, path: &str) -> Vec<u8> {
    format!("{}\r\n", head("GET", host, path)).into_bytes()
}

/// A request with that body.
pub(crate) fn request_with(service: &Service, body: &[u8]) -> Vec<u8> {
    let head = head("POST", &service.host, &service.path);
    let (kind, length) = (service.content_type, body.len());
    let headers: String = service
        .headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let head = format!("{head}{headers}Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn head(method: &str, host: &str, path: &str) -> String {
    // RFC 3986 §3.2.2.
    let is_v6 = host.parse::<std::net::Ipv6Addr>().is_ok();
    let host = if is_v6 {
        format!("[{host}]")
    } else {
        host.to_owned()
    };
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: keymark\r\nAccept: */*\r\nConnection: close\r\n"
    )
}

/// End of the body (RFC 9112 §6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// Known number of bytes.
    Known(u64),
    /// The end of the connection.
    UntilClose,
    /// An empty chunk (RFC 9112 §7.1).
    Chunked,
}

/// State of an answer that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyProgress {
    /// The answer goes on.
    More,
    /// The last byte of the answer is there.
    Whole,
}

/// An answer while it comes in: the head is kept until it is whole, the body is only counted, unless it is to be kept.
#[derive(Debug, Default)]
pub(crate) struct HttpAnswer {
    head: Vec<u8>,
    length: Option<Length>,
    /// Bytes of the body so far.
    pub(crate) body: u64,
    /// Bytes of head and body so far.
    bytes: u64,
    /// The body so far, as it was sent.
    pub(crate) kept: Option<Vec<u8>>,
}

impl HttpAnswer {
    /// Creates an answer whose body is kept.
    pub(crate) fn kept() -> Self {
        Self {
            kept: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// Takes what was read.
    pub(crate) fn take(&mut self, read: &[u8]) -> Result<BodyProgress, Failure> {
        self.bytes += read.len() as u64;
        let Some(length) = self.length else {
            self.head.extend_from_slice(read);
            return self.parse();
        };
        self.received(read);
        self.progress(length)
    }

    fn received(&mut self, body: &[u8]) {
        self.body += body.len() as u64;
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(body);
        }
    }

    fn parse(&mut self) -> Result<BodyProgress, Failure> {
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut response = httparse::Response::new(&mut fields);
        let parsed = response
            .parse(&self.head)
            .map_err(|error| Failure::Http(error.to_string()))?;
        let httparse::Status::Complete(size) = parsed else {
            if self.head.len() > LONGEST_HEAD {
                return Err(Failure::Http("a head of more than 16 KiB".to_owned()));
            }
            return Ok(BodyProgress::More);
        };
        let status = response.code.unwrap_or_default();
        if !(200..400).contains(&status) {
            return Err(Failure::Status(status));
        }
        let length = body_length(status, response.headers)?;
        if length == Length::Chunked && self.kept.is_none() {
            return Err(Failure::Http(
                "Transfer-Encoding instead of a length".to_owned(),
            ));
        }
        self.length = Some(length);
        let head = std::mem::take(&mut self.head);
        self.received(&head[size..]);
        self.progress(length)
    }

    fn progress(&mut self, length: Length) -> Result<BodyProgress, Failure> {
        let announced = match length {
            Length::Known(known) => known,
            Length::UntilClose | Length::Chunked => self.body,
        };
        if announced > LONGEST_BODY {
            return Err(Failure::Http("a body of more than 16 MiB".to_owned()));
        }
        if self.kept.is_some() && announced > LONGEST_KEPT {
            return Err(Failure::Http("a body of more than 256 KiB".to_owned()));
        }
        match length {
            Length::Chunked => {
                let Some(whole) = joined(self.kept.as_deref().unwrap_or_default())? else {
                    return Ok(BodyProgress::More);
                };
                self.body = whole.len() as u64;
                self.kept = Some(whole);
                Ok(BodyProgress::Whole)
            }
            Length::Known(known) if self.body > known => {
                Err(Failure::Http("more than its Content-Length".to_owned()))
            }
            Length::Known(known) if self.body == known => Ok(BodyProgress::Whole),
            Length::Known(_) | Length::UntilClose => Ok(BodyProgress::More),
        }
    }

    /// The connection has ended.
    pub(crate) fn end(&self) -> Result<(), Failure> {
        match self.length {
            None if self.bytes == 0 => Err(Failure::Closed(Phase::FirstByte)),
            None | Some(Length::Known(_) | Length::Chunked) => Err(Failure::ShortBody),
            Some(Length::UntilClose) => Ok(()),
        }
    }

    /// The body of a whole answer against what is expected.
    pub(crate) fn check(&self, expected: Option<u64>) -> Result<(), Failure> {
        match expected {
            Some(expected) if expected != self.body => {
                Err(Failure::Unexpected(Expectation::BodyLength))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn body_length(status: u16, fields: &[httparse::Header<'_>]) -> Result<Length, Failure> {
    // RFC 9112 §6.3, rule 1: these have no body, whatever their fields say.
    if status == 204 || status == 304 {
        return Ok(Length::Known(0));
    }
    let mut length = Length::UntilClose;
    for field in fields {
        if field.name.eq_ignore_ascii_case("transfer-encoding") {
            return Ok(Length::Chunked);
        }
        if field.name.eq_ignore_ascii_case("content-length") {
            let number = std::str::from_utf8(field.value).ok();
            let number = number.and_then(|text| text.trim().parse().ok());
            length = Length::Known(number.ok_or(Failure::Http("Content-Length".to_owned()))?);
        }
    }
    Ok(length)
}

/// Joins the chunks of a body (RFC 9112 §7.1.3); none before the last one.
fn joined(body: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
    let wrong = || Failure::Http("a chunk without its length".to_owned());
    let (mut whole, mut rest) = (Vec::new(), body);
    loop {
        let parsed = httparse::parse_chunk_size(rest).map_err(|_| wrong())?;
        let httparse::Status::Complete((from, size)) = parsed else {
            return Ok(None);
        };
        if size == 0 {
            let ends = rest[from..].starts_with(b"\r\n") || rest.ends_with(b"\r\n\r\n");
            return Ok(ends.then_some(whole));
        }
        let to = usize::try_from(size)
            .ok()
            .and_then(|size| from.checked_add(size));
        let chunk =
            to.and_then(|to| Some((rest.get(from..to)?, rest.get(to..to.checked_add(2)?)?)));
        let Some((chunk, end)) = chunk else {
            return Ok(None);
        };
        if end != b"\r\n" {
            return Err(wrong());
        }
        whole.extend_from_slice(chunk);
        rest = &rest[from + chunk.len() + end.len()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

    fn whole(bytes: &[u8]) -> Result<BodyProgress, Failure> {
        HttpAnswer::default().take(bytes)
    }

    #[test]
    fn an_address_of_version_6_stands_in_brackets() {
        for (host, field) in [
            ("localhost", "Host: localhost\r\n"),
            ("::1", "Host: [::1]\r\n"),
        ] {
            let request = String::from_utf8(request(host, "/")).unwrap();
            assert!(request.contains(field), "{request}");
        }
    }

    #[test]
    fn an_answer_is_whole_after_its_last_byte_however_it_is_cut() {
        for cut in 0..ANSWER.len() {
            let mut answer = HttpAnswer::default();
            assert_eq!(answer.take(&ANSWER[..cut]), Ok(BodyProgress::More), "{cut}");
            assert!(answer.end().is_err());
            assert_eq!(
                answer.take(&ANSWER[cut..]),
                Ok(BodyProgress::Whole),
                "{cut}"
            );
            assert_eq!(answer.bytes, ANSWER.len() as u64);
            assert_eq!(answer.check(Some(5)), Ok(()));
            let wrong = Err(Failure::Unexpected(Expectation::BodyLength));
            assert_eq!(answer.check(Some(6)), wrong);
        }
    }

    #[test]
    fn without_a_length_the_body_ends_with_the_connection() {
        let mut answer = HttpAnswer::default();
        assert_eq!(
            answer.take(b"HTTP/1.1 200 OK\r\n\r\nabc"),
            Ok(BodyProgress::More)
        );
        assert_eq!(answer.end(), Ok(()));
        assert_eq!(answer.check(Some(3)), Ok(()));
    }

    #[test]
    fn a_body_without_end_is_refused_and_so_is_the_promise_of_one() {
        let refused = Err(Failure::Http("a body of more than 16 MiB".to_owned()));
        let promised = whole(b"HTTP/1.1 200 OK\r\nContent-Length: 16777217\r\n\r\n");
        assert_eq!(promised, refused);
        let mut answer = HttpAnswer::default();
        let mut taken = answer.take(b"HTTP/1.1 200 OK\r\n\r\n");
        for _ in 0..256 {
            assert_eq!(taken, Ok(BodyProgress::More));
            taken = answer.take(&[0; 64 * 1024]);
        }
        assert_eq!(taken, Ok(BodyProgress::More));
        assert_eq!(answer.take(&[0]), refused);
    }

    #[test]
    fn what_is_no_success_has_its_class() {
        assert_eq!(whole(b"HTTP/1.1 503 x\r\n\r\n"), Err(Failure::Status(503)));
        assert_eq!(whole(b"HTTP/1.1 204 x\r\n\r\n"), Ok(BodyProgress::Whole));
        assert_eq!(
            whole(b"HTTP/1.1 404 Not Found\r\n\r\n"),
            Err(Failure::Status(404))
        );
        assert!(matches!(whole(b"SSH-2.0-x\r\n"), Err(Failure::Http(_))));
        let more = whole(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab");
        assert!(matches!(more, Err(Failure::Http(_))));
        let chunked = whole(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        assert!(matches!(chunked, Err(Failure::Http(_))));
        assert!(matches!(whole(&[b'H'; 20_000]), Err(Failure::Http(_))));
        let of_http2 = whole(&[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]);
        assert!(matches!(of_http2, Err(Failure::Http(_))));
        assert_eq!(
            HttpAnswer::default().end(),
            Err(Failure::Closed(Phase::FirstByte))
        );
    }
}
