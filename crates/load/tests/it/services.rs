//! A service of HTTP that answers rightly, and in each wrong way: failures by class, never samples.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use keymark_bench::clock::MonotonicClock;
use keymark_load::{Exchange, Expectation, Failure, Measurement, Phase, Service, Timeouts, run};

use crate::support::users;

/// Answers of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answers {
    Rightly,
    InChunks,
    ToAnother,
    WithAnError,
    Half,
    NotAtAll,
    ByClosing,
}

/// It accepts until the test ends.
fn serve(answers: Answers) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(move || answer(stream, answers));
        }
    });
    address
}

/// A client that gives up closes.
fn answer(mut stream: TcpStream, answers: Answers) -> Option<()> {
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    let end = loop {
        let read = stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
        request.extend_from_slice(&buffer[..read]);
        let mut windows = request.windows(4);
        match windows.position(|four| four == b"\r\n\r\n") {
            Some(end) if request.len() >= end + 4 + 16 => break end + 4,
            _ => {}
        }
    };
    let head = String::from_utf8(request[..end].to_vec()).unwrap();
    assert!(head.starts_with("POST /stamp HTTP/1.1\r\nHost: localhost\r\n"));
    assert!(head.contains("Content-Length: 16\r\n"), "{head}");
    let number = String::from_utf8(request[end..].to_vec()).unwrap();
    let stamp = format!("stamp {number}");
    let whole = format!("HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n{stamp}");
    let said = match answers {
        Answers::Rightly => whole,
        Answers::InChunks => {
            let (first, last) = stamp.split_at(9);
            format!(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{first}\r\nd\r\n{last}\r\n0\r\n\r\n"
            )
        }
        Answers::ToAnother => whole.replace(&number, "0123456789abcdef"),
        Answers::WithAnError => "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n".to_owned(),
        Answers::Half => whole[..whole.len() - 11].to_owned(),
        Answers::NotAtAll => {
            // Until the client has given up.
            while stream.read(&mut buffer).is_ok_and(|read| read > 0) {}
            return None;
        }
        Answers::ByClosing => return None,
    };
    stream.write_all(said.as_bytes()).ok()
}

/// Stamps name the request that they answer.
struct Stamps;

impl Exchange for Stamps {
    fn body(&self, number: u64) -> Vec<u8> {
        format!("{number:016x}").into_bytes()
    }

    fn check(&self, number: u64, answer: &[u8]) -> Result<(), Expectation> {
        let right = answer == format!("stamp {number:016x}").as_bytes();
        right.then_some(()).ok_or(Expectation::Nonce)
    }
}

fn load(address: SocketAddr) -> Measurement {
    let service = Service {
        address,
        ..Service::post("/stamp", "text/plain", Arc::new(Stamps))
    };
    let mut settings = users(2, 1500);
    settings.timeouts = Timeouts {
        whole: Duration::from_millis(300),
        ..settings.timeouts
    };
    let (clock, stop) = (MonotonicClock::new(), AtomicBool::new(false));
    run(&service, &settings, (&clock, &stop), &mut ()).unwrap()
}

#[test]
fn right_answers_are_counted_and_no_handshake_is_timed() {
    for answers in [Answers::Rightly, Answers::InChunks] {
        let measured = load(serve(answers));
        assert!(measured.load.totals.transactions > 10, "{answers:?}");
        assert_eq!(measured.failures, [].into(), "{answers:?}");
        assert_eq!(
            measured.load.totals.bytes,
            measured.load.totals.transactions * 22
        );
        assert!(measured.load.sample.iter().all(|one| one.handshake_ns == 0));
    }
}

#[test]
fn what_is_wrong_is_a_failure_of_its_class_and_no_sample() {
    for (answers, class) in [
        (Answers::ToAnother, Failure::Unexpected(Expectation::Nonce)),
        (Answers::WithAnError, Failure::Status(500)),
        (Answers::Half, Failure::ShortBody),
        (Answers::NotAtAll, Failure::WholeTimeout),
        (Answers::ByClosing, Failure::Closed(Phase::FirstByte)),
    ] {
        let measured = load(serve(answers));
        let classes: Vec<&Failure> = measured.failures.keys().collect();
        assert_eq!(classes, [&class], "{answers:?}");
        assert_eq!(measured.load.totals.failed, measured.failures[&class]);
        assert_eq!(
            (
                measured.load.totals.transactions,
                measured.load.sample.len()
            ),
            (0, 0)
        );
    }
}
