//! Lines from gpg-agent's socket, where another program may listen.

#![no_main]

use std::io::{self, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixListener;

use keymark_stacks::gnupg::assuan::{Assuan, data_lines};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let socket = folder.path().join("agent");
    let listener = UnixListener::bind(&socket).expect("a socket");
    std::thread::scope(|scope| {
        scope.spawn(|| say(&listener, data));
        if let Ok(agent) = Assuan::connect(&socket) {
            listen(agent, data);
        }
    });
});

/// Says it all at once and then hears the client out: hanging up would break the client's next
/// command before the lines for it are read.
fn say(listener: &UnixListener, data: &[u8]) {
    if let Ok((mut client, _)) = listener.accept() {
        let _ = client.write_all(data);
        let _ = client.shutdown(Shutdown::Write);
        let _ = io::copy(&mut client, &mut io::sink());
    }
}

/// Until the agent has nothing more to say: each answer takes a line at least.
fn listen(mut agent: Assuan, data: &[u8]) {
    for _ in 0..=data.len() {
        let mut received = Vec::new();
        let asked = agent.transact("PKDECRYPT", Some(&data_lines(data)), &mut received);
        assert!(received.len() <= data.len());
        let status = agent.status("SCD GETATTR", "SERIALNO");
        if asked.is_err() && status.is_err() {
            break;
        }
    }
}
