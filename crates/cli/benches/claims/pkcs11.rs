//! Signing on SoftHSM2 and Kryoptic: keymark's runner against a minimal C loop over C_SignInit and C_Sign with the same
//! key, and on SoftHSM2 against OpenDNSSEC's `ods-hsmspeed`. They take turns.

use std::ffi::OsString;
use std::fs;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use keymark_bench::case::{Case, Load};
use keymark_bench::operation::Operation;
use keymark_bench::store::Capability;
use keymark_native::cryptoki::under_way::{UnderWay, Watched, tell_in};
use keymark_shim_protocol::pkcs11::Call as Noted;
use keymark_stacks::raw::RawStack;
use keymark_stores::device::{Looked, Run, Wish};
use keymark_stores::pkcs11;
use keymark_stores::user::{Pin, User};
use keymark_testkit::softhsm::{CONFIGURATION, LABEL, PIN, SoftHsmToken, URI};

use super::c_loop::{Calls, HALF, Pkcs11Loop};
use super::figure::{Failure, Figure, Limit, in_turn, median, time};
use super::kryoptic::{self, KryopticToken};
use super::raw;

/// Processes on both sides: where one of them has its memory makes it up to some 2 % faster or slower for as long as it
/// lives, which no number of pairs within it averages out.
const PROCESSES: usize = 10;
/// Pairs of keymark and the C loop in each.
const PAIRS: usize = 25;
/// Pairs of keymark and ods-hsmspeed in each, which makes a key each time.
const SPEED_PAIRS: usize = 2;
/// Time of each half of a pair with ods-hsmspeed.
const SPEED_HALF: Duration = Duration::from_millis(300);
/// A file next to the token.
const SPEED_CONFIGURATION: &str = "conf.xml";
/// The keys: their labels are keymark's names of the algorithms.
const KEYS: [(&str, &str, &str); 2] = [
    ("rsa2048", "rsa:2048", "01"),
    ("nistp256", "EC:prime256v1", "02"),
];
/// Key label of ods-hsmspeed.
const SPEED_KEY: &str = "rsa2048";
const THREADS: [u32; 2] = [1, 2];

/// keymark's throughput over both.
pub(crate) fn measure() -> Result<Vec<Figure>, Failure> {
    let (softhsm, kryoptic) = (SoftHsmToken::new(), KryopticToken::new()?);
    let other = SoftHsmToken::new();
    let mut figures = vec![watching()?];
    for (label, kind, id) in KEYS {
        softhsm.make_key(kind, id, label);
        kryoptic.make_key(kind, id, label)?;
    }
    configure_speed(&softhsm)?;
    let tokens = [
        Sides {
            name: "SoftHSM2",
            directory: softhsm.path(""),
            module: SoftHsmToken::library(),
            environment: (CONFIGURATION, softhsm.configuration()),
            speed: Some(other.configuration()),
        },
        Sides {
            name: "Kryoptic",
            directory: kryoptic.directory().to_owned(),
            module: kryoptic.library().to_owned(),
            environment: (kryoptic::CONFIGURATION, kryoptic.configuration()),
            speed: None,
        },
    ];
    for token in &tokens {
        Pkcs11Loop::compile(&token.directory)?;
        for (key, ..) in KEYS {
            for threads in THREADS {
                figures.extend(token.figures(key, threads)?);
            }
        }
    }
    Ok(figures)
}

/// Extra time of an operation of 50 µs because its two calls are noted for observers of the process.
fn watching() -> Result<Figure, Failure> {
    const OPERATIONS: u32 = 1_000_000;
    const OPERATION: Duration = Duration::from_micros(50);
    let (_watched, file) = Watched::new()?;
    tell_in(&file)?;
    let took = time::<Failure>(|| {
        for _ in 0..OPERATIONS {
            drop(black_box(UnderWay::begin(black_box(Noted::C_SignInit))));
            drop(black_box(UnderWay::begin(black_box(Noted::C_Sign))));
        }
        Ok(())
    })?;
    let each = took / OPERATIONS;
    let name =
        "noting the two calls of an operation of 50 µs for the watching keymark, share of its time";
    let share = each.as_secs_f64() / OPERATION.as_secs_f64();
    Ok(Figure::new(name, share, Limit::AtMost(0.01), ""))
}

#[derive(Debug)]
struct Sides {
    name: &'static str,
    directory: PathBuf,
    module: PathBuf,
    environment: (&'static str, PathBuf),
    /// Tokens for ods-hsmspeed, where it is asked.
    speed: Option<PathBuf>,
}

impl Sides {
    fn figures(&self, key: &str, threads: u32) -> Result<Vec<Figure>, Failure> {
        let to = [
            ("a C loop", PAIRS, Limit::AtLeast(0.99)),
            ("ods-hsmspeed", SPEED_PAIRS, Limit::AtLeast(1.0)),
        ];
        let mut ratios = [const { Vec::new() }; 2];
        for _ in 0..PROCESSES {
            let each = self.of_process(key, threads)?;
            (ratios.iter_mut().zip(each)).for_each(|(ratios, ratio)| ratios.push(ratio));
        }
        let compared = ratios.into_iter().zip(to);
        let figure = |(ratios, (other, pairs, limit))| {
            let name = format!(
                "raw throughput over {other} on {}, {key} sign, {}, {PROCESSES} processes with {pairs} pairs each",
                self.name,
                counted(threads)
            );
            Figure::new(name, median(ratios), limit, "")
        };
        let compared = compared.filter(|(ratios, _)| !ratios.is_empty());
        Ok(compared.map(figure).collect())
    }

    /// The ratios of one process, to the C loop and to ods-hsmspeed where it is asked.
    fn of_process(&self, key: &str, threads: u32) -> Result<Vec<f64>, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(ARGUMENT).arg(&self.directory).arg(&self.module);
        command.args([key, &threads.to_string()]);
        if key == SPEED_KEY {
            command.args(&self.speed);
        }
        let (variable, configuration) = &self.environment;
        let output = command.env(variable, configuration).output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let ratios: Result<Vec<f64>, _> = said.split_whitespace().map(str::parse).collect();
        let ratios = ratios.map_err(|_| said)?;
        if ratios.is_empty() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        Ok(ratios)
    }
}

fn counted(threads: u32) -> String {
    match threads {
        1 => "1 thread".to_owned(),
        several => format!("{several} threads"),
    }
}

/// keymark's side: a case and the stack on a key that is on the module's token, which the process was started for.
fn own(module: &Path, key: &str, threads: u32) -> Result<(Case, RawStack), Failure> {
    let user = User::with_pin(Pin::new(PIN));
    let uri = format!("{URI};object={key}?module-path={}", module.display());
    let mut looked = Looked::default();
    pkcs11::look(&Wish::Named(vec![uri]), &user, &mut looked)?;
    let device = looked
        .devices
        .into_iter()
        .next()
        .ok_or("there is no such token")?;
    let sign = Capability::new(key.parse()?, Operation::Sign);
    let case = Case {
        load: Load::closed(NonZeroU32::new(threads).ok_or("no threads")?),
        input_bytes: 40,
        ..device.identity().case(sign)
    };
    Ok((case, RawStack::new(device.open(&Run::new(0))?, 0)))
}

/// Argument with which the binary calls itself: modules find their tokens by the environment of the process.
pub(crate) const ARGUMENT: &str = "sign-on-token";

/// The process's part, for a directory, a module, a key and a number of threads: prints the median ratio to the C loop, and to
/// ods-hsmspeed, if its configuration is given.
pub(crate) fn compare(arguments: &[OsString]) -> Result<String, Failure> {
    let texts: Vec<&str> = arguments.iter().filter_map(|text| text.to_str()).collect();
    let [directory, module, key, threads, more @ ..] = texts.as_slice() else {
        return Err("four arguments are wanted".into());
    };
    let (directory, module) = (Path::new(directory), Path::new(module));
    let threads = threads.parse()?;
    let mut bare = Pkcs11Loop::start(directory, (module, None), key, Calls::Sign)?;
    // Its login is over by then: while a process logs in, SoftHSM2 shows the token to no other.
    let rate = bare.rate(threads)?;
    let (case, stack) = own(module, key, threads)?;
    let own = |time| raw::keymark(&case, &stack, time);
    let mut said = in_turn(PAIRS, |_| own(HALF), |_| bare.rate(threads))?.to_string();
    if let [tokens, ..] = more {
        let operations = ((rate * SPEED_HALF.as_secs_f64()) as u32).max(20);
        let speed = |_| speed(directory, Path::new(tokens), threads, operations);
        let ratio = in_turn(SPEED_PAIRS, |_| own(SPEED_HALF), speed)?;
        said = format!("{said} {ratio}");
    }
    Ok(said)
}

/// Configuration of ods-hsmspeed: a token of its own, where it makes and deletes keys.
fn configure_speed(token: &SoftHsmToken) -> Result<(), Failure> {
    let configuration = token.path(SPEED_CONFIGURATION);
    let text = format!(
        "<Configuration><RepositoryList><Repository name=\"keymark\"><Module>{}</Module>\
         <TokenLabel>{LABEL}</TokenLabel><PIN>{PIN}</PIN></Repository></RepositoryList></Configuration>\n",
        SoftHsmToken::library().display()
    );
    fs::write(&configuration, text)?;
    fs::set_permissions(&configuration, fs::Permissions::from_mode(0o600))?;
    Ok(())
}

/// Signatures per second by ods-hsmspeed on a token of those tokens.
fn speed(directory: &Path, tokens: &Path, threads: u32, operations: u32) -> Result<f64, Failure> {
    let each = (operations / threads).max(1).to_string();
    let output = Command::new("ods-hsmspeed")
        .arg("-c")
        .arg(directory.join(SPEED_CONFIGURATION))
        .args(["-r", "keymark", "-s", "2048", "-i", &each])
        .args(["-t", &threads.to_string()])
        .env(CONFIGURATION, tokens)
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    signatures_a_second(&said)
        .ok_or_else(|| format!("ods-hsmspeed said {said:?}, {:?}", output.stderr).into())
}

/// Out of `1 thread, 300 signatures per thread, 584.77 sig/s (RSA 2048 bits)`.
fn signatures_a_second(said: &str) -> Option<f64> {
    let (before, _) = said.split_once(" sig/s")?;
    before.rsplit(' ').next()?.parse().ok()
}
