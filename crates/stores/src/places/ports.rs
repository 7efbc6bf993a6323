//! Ports for programs that listen at those that they are told.

use std::net::{Ipv4Addr, TcpListener};

use keymark_bench::error::{During as _, Error};

/// A port at which nobody listens, nor at the next one.
pub fn two_free_ports() -> Result<u16, Error> {
    let bound = |port| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port));
    for _ in 0..100 {
        let first = bound(0).and_then(|first| Ok((first.local_addr()?.port(), first)));
        let (port, _first) = first.during("looking for a free port")?;
        if port.checked_add(1).is_some_and(|next| bound(next).is_ok()) {
            return Ok(port);
        }
    }
    Err(Error::call(
        "looking for a free port",
        "no two are side by side",
        "",
    ))
}
