//! What the library costs a call, and what taking calls down adds:
//!
//! ```text
//! cargo build --release -p keymark-pcsc
//! cargo run --release -p keymark-pcsc --example overhead
//! ```
//!
//! The library reads its environment once, so that each row is measured by a process of its own:
//! medians of batches, without a trace and with one, alternating. What a trace adds is to be read off
//! the cheap call: two threads waking each other over a socket vary by more than that.

use std::error::Error;
use std::ffi::{c_char, c_long, c_ulong, c_void};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;
use std::time::Duration;

use keymark_shim_protocol::wire::{Request, Response};
use keymark_shim_protocol::{CARD, TRACE};
use nix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 5;
const BATCHES: usize = 40;

type Establish = unsafe extern "C" fn(c_ulong, *const c_void, *const c_void, *mut c_long) -> c_long;
type IsValid = unsafe extern "C" fn(c_long) -> c_long;
type Connect = unsafe extern "C" fn(
    c_long,
    *const c_char,
    c_ulong,
    c_ulong,
    *mut c_long,
    *mut c_ulong,
) -> c_long;
type Transmit = unsafe extern "C" fn(
    c_long,
    *const c_void,
    *const u8,
    c_ulong,
    *mut c_void,
    *mut u8,
    *mut c_ulong,
) -> c_long;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("measure") {
        return measure();
    }
    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("card");
    serve(UnixListener::bind(&socket)?);
    let trace = folder.path().join("trace");
    let mut cheap = [Vec::new(), Vec::new()];
    let mut transmit = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (traced, path) in [None, Some(trace.as_path())].into_iter().enumerate() {
            let [one, other] = child(&socket, path)?;
            cheap[traced].push(one);
            transmit[traced].push(other);
        }
    }
    println!(
        "{:<22} {:>10} {:>10} {:>10}",
        "ns a call", "untraced", "traced", "trace"
    );
    for (name, [untraced, traced]) in [("SCardIsValidContext", cheap), ("SCardTransmit", transmit)]
    {
        let (untraced, traced) = (median(untraced), median(traced));
        println!(
            "{name:<22} {untraced:>10.0} {traced:>10.0} {:>10.0}",
            traced - untraced
        );
    }
    Ok(())
}

/// A card that answers at once, to as many as come.
fn serve(listener: UnixListener) {
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                while let Ok(Some(_)) = Request::read(&mut stream) {
                    let response = Response::Done {
                        work: Duration::ZERO,
                        bytes: vec![0x90, 0x00],
                    };
                    if response.write(&mut stream).is_err() {
                        return;
                    }
                }
            });
        }
    });
}

/// Both figures of one process.
fn child(socket: &Path, trace: Option<&Path>) -> Result<[f64; 2], Box<dyn Error>> {
    let mut child = Command::new(std::env::current_exe()?);
    child.arg("measure").env(CARD, socket).env_remove(TRACE);
    if let Some(trace) = trace {
        child.env(TRACE, trace);
    }
    let output = child.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let said = String::from_utf8(output.stdout)?;
    let figures: Result<Vec<f64>, _> = said.split_whitespace().map(str::parse).collect();
    Ok(figures?
        .try_into()
        .map_err(|_| "a child did not say two figures")?)
}

/// In the child: prints both figures.
fn measure() -> Result<(), Box<dyn Error>> {
    // SAFETY: the library has no initialisers, and its functions the types of winscard.h.
    let library = unsafe { libloading::Library::new(library_path()?)? };
    // SAFETY: as above.
    let (establish, is_valid, connect, transmit) = unsafe {
        (
            library.get::<Establish>(b"SCardEstablishContext")?,
            library.get::<IsValid>(b"SCardIsValidContext")?,
            library.get::<Connect>(b"SCardConnect")?,
            library.get::<Transmit>(b"SCardTransmit")?,
        )
    };
    let (mut context, mut handle, mut active) = (0, 0, 0);
    let name = c"keymark virtual reader 00 00".as_ptr();
    // SAFETY: the pointers are valid.
    let code = unsafe {
        establish(2, ptr::null(), ptr::null(), &raw mut context)
            | connect(context, name, 2, 2, &raw mut handle, &raw mut active)
    };
    if code != 0 {
        return Err(format!("there is no card: {code:#x}").into());
    }
    let cheap = batches(2_000, || {
        // SAFETY: a context is a number.
        unsafe { is_valid(context) }
    })?;
    let command = [0x00, 0xCA, 0x00, 0x6E, 0x00];
    let mut response = [0; 64];
    let apdu = batches(200, || {
        let mut length = response.len() as c_ulong;
        let (sent, room) = (command.as_ptr(), response.as_mut_ptr());
        let none = ptr::null_mut();
        // SAFETY: the pointers are null or good for the lengths beside them.
        unsafe { transmit(handle, ptr::null(), sent, 5, none, room, &raw mut length) }
    })?;
    println!("{cheap} {apdu}");
    Ok(())
}

/// Median time of a call, in nanoseconds, over batches of `calls`; the first batch warms up.
fn batches(calls: u32, mut call: impl FnMut() -> c_long) -> Result<f64, Box<dyn Error>> {
    let mut times = Vec::with_capacity(BATCHES);
    for _ in 0..=BATCHES {
        let begin = now()?;
        for _ in 0..calls {
            if call() != 0 {
                return Err("a call failed".into());
            }
        }
        times.push((now()? - begin).as_nanos() as f64 / f64::from(calls));
    }
    Ok(median(times.split_off(1)))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn now() -> nix::Result<Duration> {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from)
}

/// Beside this program's folder, where `cargo build` puts it.
fn library_path() -> Result<PathBuf, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let profile = program.parent().and_then(Path::parent);
    let library = profile
        .ok_or("a program has a folder")?
        .join("libkeymark_pcsc.so");
    if !library.is_file() {
        return Err(format!("{} is missing: build it first", library.display()).into());
    }
    Ok(library)
}
