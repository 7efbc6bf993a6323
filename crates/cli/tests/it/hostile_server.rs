//! Servers that answer where a team's archive should be, by the real binary.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use keymark_testkit::assert_says;
use keymark_testkit::place::{Ends as _, Place};

use crate::KEYMARK;

const PASSWORD: &str = "hunter2";
const WELCOME: [&[u8]; 2] = [b"R\0\0\0\x08\0\0\0\0", b"Z\0\0\0\x05I"];

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[kind], &length[..], body].concat()
}

/// Lets one client in, answers its first question as told, and yields all that the client has sent.
fn served(listener: &TcpListener, greeting: &[u8], answer: &dyn Fn(&mut TcpStream)) -> Vec<u8> {
    let (mut client, _) = listener.accept().unwrap();
    let mut heard = vec![0; 4096];
    let length = client.read(&mut heard).unwrap();
    heard.truncate(length);
    client.write_all(greeting).unwrap();
    let mut more = vec![0; 4096];
    let length = client.read(&mut more).unwrap_or(0);
    heard.extend(&more[..length]);
    if length > 0 {
        answer(&mut client);
    }
    // Until the client has gone.
    let _ = client.read_to_end(&mut heard);
    heard
}

fn asked(
    more: &str,
    greeting: &[u8],
    answer: impl Fn(&mut TcpStream) + Send + Sync,
) -> (String, Vec<u8>) {
    let place = Place::new(KEYMARK);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let address = format!("postgresql://jane@127.0.0.1:{port}/team?connect_timeout=1{more}");
    thread::scope(|scope| {
        let server = scope.spawn(|| served(&listener, greeting, &answer));
        let mut keymark = place.keymark("runs");
        keymark.env("KEYMARK_ARCHIVE", address);
        keymark.env("PGPASSWORD", PASSWORD);
        let said = keymark.ends(1).stderr;
        assert!(!said.contains("panicked"), "{said}");
        (said, server.join().unwrap())
    })
}

fn has_password(heard: &[u8]) -> bool {
    let mut windows = heard.windows(PASSWORD.len());
    windows.any(|window| window == PASSWORD.as_bytes())
}

#[test]
fn a_password_is_not_given_in_clear_text_to_who_asks_for_it() {
    let clear = message(b'R', &[0, 0, 0, 3]);
    // Without TLS, and where it is only preferred.
    for (more, greeting) in [
        ("", clear.clone()),
        ("&sslmode=prefer", [&b"N"[..], &clear].concat()),
    ] {
        let (said, heard) = asked(more, &greeting, |_| {});
        assert!(!has_password(&heard), "{more}: {heard:?}");
        if more.is_empty() {
            assert_says(&said, ["cannot reach archive", "in clear text"]);
        }
    }
}

#[test]
fn what_a_server_says_ends_in_a_message_and_not_in_a_panic() {
    for code in ["X", "", "aé", "57P01"] {
        let fields = format!("SFATAL\0C{code}\0Mno\0\0");
        let error = message(b'E', fields.as_bytes());
        let (said, _) = asked("", &error, |_| {});
        assert_says(&said, ["error: "]);
    }
}

#[test]
fn an_answer_has_an_end_and_a_size() {
    let welcome = WELCOME.concat();
    let set = |client: &mut TcpStream| {
        for _ in 0..3 {
            let _ = client.write_all(&message(b'C', b"SET\0"));
        }
        let _ = client.write_all(WELCOME[1]);
    };
    // A message of two gigabytes.
    let (said, _) = asked("", &welcome, |client| {
        let _ = client.write_all(b"D\x7f\xff\xff\xff");
    });
    assert_says(&said, ["cannot reach archive"]);
    // Rows one by one, each in time.
    let (said, _) = asked("", &welcome, |client| {
        set(client);
        let mut asked = [0; 4096];
        let _ = client.read(&mut asked);
        let column = [
            &b"\0\x01n\0"[..],
            &[0; 6],
            &[0, 0, 0, 20, 0, 8, 0xff, 0xff, 0xff, 0xff, 0, 1],
        ]
        .concat();
        let begun = [
            message(b'1', b""),
            message(b'2', b""),
            message(b'T', &column),
        ];
        let _ = client.write_all(&begun.concat());
        let row = message(b'D', &[0, 1, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0]);
        while client.write_all(&row).is_ok() {
            thread::sleep(std::time::Duration::from_millis(50));
        }
    });
    assert_says(&said, ["cannot reach archive", "no answer for"]);
}
