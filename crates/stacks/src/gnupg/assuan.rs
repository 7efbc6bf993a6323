//! A client of gpg-agent's Assuan socket: blocking, one connection a worker.
//!
//! Written here because it is inside the timed region: the libraries there are bring an
//! asynchronous runtime along. Protocol: <https://gnupg.org/documentation/manuals/assuan/>.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use keymark_bench::{Clock as _, Error, MonotonicClock};
use percent_encoding::percent_decode;
use zeroize::Zeroizing;

use super::status::failed;
use crate::programs::{PATIENCE, broken, connect, limit};

const AGENT: &str = "gpg-agent";
/// Longest wait for the greeting of an agent that listens.
const GREETING: Duration = Duration::from_secs(10);
/// Longest line of the protocol, without its line feed ("Server responses").
const LINE: usize = 1000;
/// Longest line that is read.
const LONGEST: u64 = 4096;
/// Octets of data in an answer, at most.
const MOST: usize = 64 << 20;

/// A connection.
#[derive(Debug)]
pub struct Assuan {
    stream: BufReader<UnixStream>,
    /// Longest wait for an answer, whatever is said before it.
    patience: Duration,
    /// The last line, without its end.
    line: Vec<u8>,
    /// Status lines of the command, if they are kept.
    statuses: Option<Vec<String>>,
    /// Advice when the agent cannot use a key.
    key_advice: &'static str,
}

/// Line of a server's answer.
enum AssuanResponse {
    Ok,
    Err(String),
    Inquire(String),
    /// Data, appended to the caller's, status lines and comments.
    Other,
}

impl Assuan {
    /// Connects and reads the greeting.
    pub fn connect(socket: &Path) -> Result<Self, Error> {
        Self::patient(socket, PATIENCE)
    }

    /// Connects with another limit for each answer.
    pub fn patient(socket: &Path, patience: Duration) -> Result<Self, Error> {
        let mut connection = Self {
            stream: BufReader::new(connect(AGENT, socket, patience.min(GREETING))?),
            patience: patience.min(GREETING),
            line: Vec::with_capacity(LINE),
            statuses: None,
            key_advice: "",
        };
        connection.answer("greeting", &mut Vec::new(), None)?;
        let limited = limit(connection.stream.get_ref(), patience);
        limited.map_err(|error| broken(AGENT, "greeting", &error))?;
        connection.patience = patience;
        Ok(connection)
    }

    /// Says from now on what to do when the agent cannot use a key.
    pub const fn advise(&mut self, key_advice: &'static str) {
        self.key_advice = key_advice;
    }

    /// Sends one command line and returns its data.
    pub fn command(&mut self, line: &str) -> Result<Vec<u8>, Error> {
        let mut data = Vec::new();
        self.transact(line, None, &mut data)?;
        Ok(data)
    }

    /// Sends one command line; an inquiry is answered with `reply`, lines made by [`data_lines`].
    /// Data are appended to `data`.
    pub fn transact(
        &mut self,
        line: &str,
        reply: Option<&[u8]>,
        data: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let command = line.split(' ').next().unwrap_or_default().trim_end();
        let mut message = Vec::with_capacity(line.len() + 1);
        message.extend_from_slice(line.as_bytes());
        if !line.ends_with('\n') {
            message.push(b'\n');
        }
        self.send(command, &message)?;
        self.answer(command, data, reply)
    }

    /// Sends one command line that asks for a secret, and answers with it.
    pub fn entrust(&mut self, line: &str, secret: &[u8]) -> Result<(), Error> {
        self.command("OPTION pinentry-mode=loopback")?;
        let reply = Zeroizing::new(data_lines(secret));
        self.transact(line, Some(&reply), &mut Vec::new())
    }

    /// The number of a process, which the command asks for.
    pub fn process(&mut self, command: &str) -> Result<u32, Error> {
        let number = self.command(command)?;
        let number = String::from_utf8_lossy(&number).trim().parse();
        number.map_err(|_| Error::call(command, "the answer is not a process number", ""))
    }

    /// Sends one command line and returns the first word of the status line of that keyword.
    pub fn status(&mut self, line: &str, keyword: &str) -> Result<String, Error> {
        let found = self.statuses(line, keyword)?.into_iter().next();
        found.ok_or_else(|| Error::call(line, format!("no status line {keyword}"), ""))
    }

    /// Sends one command line and returns the first words of all status lines of that keyword.
    pub fn statuses(&mut self, line: &str, keyword: &str) -> Result<Vec<String>, Error> {
        self.statuses = Some(Vec::new());
        let asked = self.command(line);
        let statuses = self.statuses.take().unwrap_or_default();
        asked?;
        let words = statuses.iter().filter_map(|status| {
            let (word, rest) = status.split_once(' ')?;
            (word == keyword).then(|| rest.split(' ').next().unwrap_or_default().to_owned())
        });
        Ok(words.collect())
    }

    fn send(&mut self, command: &str, bytes: &[u8]) -> Result<(), Error> {
        let sent = self.stream.get_mut().write_all(bytes);
        sent.map_err(|error| self.broken(command, &error))
    }

    /// Shuts the connection down: a late answer would be taken for that to the next command.
    fn broken(&self, command: &str, error: &io::Error) -> Error {
        let _ = self.stream.get_ref().shutdown(Shutdown::Both);
        broken(AGENT, command, error)
    }

    fn answer(
        &mut self,
        command: &str,
        data: &mut Vec<u8>,
        mut reply: Option<&[u8]>,
    ) -> Result<(), Error> {
        let clock = MonotonicClock::new();
        let limit = clock.now().after(self.patience);
        let mut refusal = None;
        loop {
            match self.response(command, data)? {
                AssuanResponse::Ok => break,
                // What follows an inquiry that was cancelled belongs to it.
                AssuanResponse::Err(_) if refusal.is_some() => break,
                AssuanResponse::Err(reason) => {
                    let advice = self.advice(command).to_owned();
                    refusal = Some(failed(command, reason.clone(), &reason, advice));
                    break;
                }
                // Who asks again was not content with the answer: a PIN is not sent a second time.
                AssuanResponse::Inquire(keyword) => match reply.take() {
                    Some(reply) => self.send(command, reply)?,
                    None => {
                        self.send(command, b"CAN\n")?;
                        let reason =
                            format!("gpg-agent asks for {keyword}, which keymark cannot answer");
                        let advice = self.advice(command);
                        refusal.get_or_insert_with(|| Error::call(command, reason, advice));
                    }
                },
                AssuanResponse::Other => {}
            }
            // A program that talks without an answer does not give one.
            if data.len() > MOST || clock.now() > limit {
                return Err(self.broken(command, &io::ErrorKind::WouldBlock.into()));
            }
        }
        refusal.map_or(Ok(()), Err)
    }

    fn advice(&self, command: &str) -> &'static str {
        match command {
            "PKSIGN" | "PKDECRYPT" => self.key_advice,
            _ => "",
        }
    }

    fn response(&mut self, command: &str, data: &mut Vec<u8>) -> Result<AssuanResponse, Error> {
        let read = self.read_line();
        read.map_err(|error| self.broken(command, &error))?;
        let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
        Ok(match self.line.as_slice() {
            b"OK" => AssuanResponse::Ok,
            [b'O', b'K', b' ', ..] => AssuanResponse::Ok,
            [b'E', b'R', b'R', b' ', reason @ ..] => AssuanResponse::Err(text(reason)),
            [b'D', b' ', escaped @ ..] => {
                data.extend(percent_decode(escaped));
                AssuanResponse::Other
            }
            [b'I', b'N', b'Q', b'U', b'I', b'R', b'E', b' ', keyword @ ..] => {
                AssuanResponse::Inquire(text(keyword))
            }
            [b'S', b' ', status @ ..] => {
                if let Some(kept) = &mut self.statuses {
                    kept.push(text(status));
                }
                AssuanResponse::Other
            }
            _ => AssuanResponse::Other,
        })
    }

    /// Reads the next line.
    fn read_line(&mut self) -> io::Result<()> {
        self.line.clear();
        let mut limited = (&mut self.stream).take(LONGEST);
        limited.read_until(b'\n', &mut self.line)?;
        match self.line.pop() {
            Some(b'\n') => Ok(()),
            Some(_) if limited.limit() == 0 => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a line is too long",
            )),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// `D` lines with the data, and `END`: the answer to an inquiry.
pub fn data_lines(data: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(data.len() + 64);
    let mut length = LINE;
    for &octet in data {
        if length + 3 > LINE {
            if !lines.is_empty() {
                lines.push(b'\n');
            }
            lines.extend(b"D ");
            length = 2;
        }
        if matches!(octet, b'%' | b'\r' | b'\n') {
            lines.extend(format!("%{octet:02X}").bytes());
            length += 3;
        } else {
            lines.push(octet);
            length += 1;
        }
    }
    lines.extend(b"\nEND\n");
    lines
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;
    use proptest::prelude::*;
    use std::os::unix::net::UnixListener;

    /// A connection to a server that says the lines in turn, each after the client's next line.
    fn scripted(
        answers: &'static [&'static str],
    ) -> (Assuan, std::thread::JoinHandle<Vec<String>>) {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join("S")).unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = io::BufReader::new(stream.try_clone().unwrap()).lines();
            let mut heard = Vec::new();
            for (index, answer) in answers.iter().enumerate() {
                if index > 0 {
                    heard.push(lines.next().unwrap().unwrap());
                }
                stream.write_all(answer.as_bytes()).unwrap();
            }
            heard
        });
        (Assuan::connect(&dir.path().join("S")).unwrap(), server)
    }

    #[test]
    fn data_come_back_unescaped() {
        let (mut connection, server) =
            scripted(&["OK Pleased\n", "# hint\nS PROGRESS\nD a%25\nD b%0Ac\nOK\n"]);
        assert_eq!(connection.command("GETINFO version").unwrap(), b"a%b\nc");
        assert_eq!(server.join().unwrap(), ["GETINFO version"]);
    }

    #[test]
    fn an_inquiry_is_answered() {
        let (mut connection, server) = scripted(&[
            "OK\n",
            "S INQUIRE_MAXLEN 4096\nINQUIRE CIPHERTEXT\n",
            "",
            "D x\nOK\n",
        ]);
        let mut data = Vec::new();
        connection
            .transact("PKDECRYPT", Some(&data_lines(b"50%")), &mut data)
            .unwrap();
        assert_eq!(data, b"x");
        assert_eq!(server.join().unwrap(), ["PKDECRYPT", "D 50%25", "END"]);
    }

    #[test]
    fn a_refusal_carries_the_agents_code() {
        let (mut connection, _server) =
            scripted(&["OK\n", "ERR 67108881 No secret key <GPG Agent>\n"]);
        let error = connection.command("PKSIGN").unwrap_err().to_string();
        assert!(
            error.starts_with("PKSIGN failed: 67108881 No secret key"),
            "{error}"
        );
    }

    #[test]
    fn an_agent_that_talks_without_an_answer_is_left() {
        let (mut connection, _server) = scripted(&["OK\n", "S PROGRESS\nS PROGRESS\n"]);
        connection.patience = Duration::ZERO;
        let error = connection.command("PKSIGN").unwrap_err().to_string();
        assert_says(&error, ["gpg-agent does not answer"]);
    }

    #[test]
    fn an_unexpected_inquiry_is_cancelled() {
        let (mut connection, server) =
            scripted(&["OK\n", "INQUIRE PASSPHRASE\n", "ERR 67109141 cancelled\n"]);
        let error = connection.command("PKSIGN").unwrap_err().to_string();
        assert_says(&error, ["PASSPHRASE"]);
        assert_eq!(server.join().unwrap(), ["PKSIGN", "CAN"]);
    }

    #[test]
    fn a_silent_agent_is_an_error_and_not_waited_for_again() {
        let dir = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(dir.path().join("S")).unwrap();
        let connect = || Assuan::patient(&dir.path().join("S"), Duration::from_millis(50));
        let error = connect().unwrap_err().to_string();
        assert_says(&error, ["gpg-agent does not answer"]);
        let server = std::thread::spawn(move || {
            let (_silent, _) = listener.accept().unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"OK\n").unwrap();
            let mut heard = String::new();
            stream.read_to_string(&mut heard).unwrap();
            heard
        });
        let mut connection = connect().unwrap();
        let error = connection.command("PKSIGN").unwrap_err().to_string();
        assert_says(&error, ["PKSIGN failed: gpg-agent does not answer"]);
        // The answer to PKSIGN may still come.
        let error = connection.command("GETINFO pid").unwrap_err().to_string();
        assert_says(&error, ["broke"]);
        assert_eq!(server.join().unwrap(), "PKSIGN\n");
    }

    #[test]
    fn a_broken_connection_is_an_error() {
        let (mut connection, _server) = scripted(&["OK\n", ""]);
        let error = connection.command("PKSIGN").unwrap_err().to_string();
        assert_says(&error, ["broke"]);
        assert!(Assuan::connect(Path::new("/nonexistent")).is_err());
    }

    proptest! {
        #[test]
        fn data_survive_and_lines_stay_short(data in proptest::collection::vec(any::<u8>(), 1..3000)) {
            let lines = data_lines(&data);
            let mut back = Vec::new();
            for line in lines.split(|octet| *octet == b'\n') {
                prop_assert!(line.len() <= LINE);
                if let Some(escaped) = line.strip_prefix(b"D ") {
                    back.extend(percent_decode(escaped));
                }
            }
            prop_assert_eq!(back, data);
        }
    }
}
