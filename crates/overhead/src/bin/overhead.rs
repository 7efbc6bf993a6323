//! `make overhead`: prints every figure with its limit, and exits with 1 when one is missed.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, DeviceName, Load, Protection, Provenance, StackName, StoreKind};
use keymark_bench::operation::Operation;
use keymark_overhead::{Failure, Figure, analysis, card, mcu, pcsc, raw, spawn, start};

fn main() -> ExitCode {
    let outcome = if std::env::args().nth(1).as_deref() == Some(analysis::ARGUMENT) {
        case("ed25519", Operation::Sign, StackName::Raw)
            .and_then(|case| analysis::analyse(&case))
            .map(|line| {
                println!("{line}");
                true
            })
    } else {
        figures()
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every limit is kept.
fn figures() -> Result<bool, Failure> {
    let mut kept = true;
    let mut say = |figure: Figure| {
        println!("{figure}");
        kept &= figure.is_kept();
    };
    say(start::measure(&keymark()?)?);
    analysis::measure()?.into_iter().for_each(&mut say);
    for algorithm in ["rsa2048", "rsa4096", "nistp256", "ed25519"] {
        say(raw::measure(&case(
            algorithm,
            Operation::Sign,
            StackName::Raw,
        )?)?);
    }
    for (algorithm, operation) in [
        ("cv25519", Operation::Decrypt),
        ("rsa2048", Operation::Sign),
    ] {
        say(card::measure(&case(algorithm, operation, StackName::Raw)?)?);
    }
    mcu::measure()?.into_iter().for_each(&mut say);
    let decryption = case("cv25519", Operation::Decrypt, StackName::Raw)?;
    card::twins(&decryption)?.into_iter().for_each(&mut say);
    let driver = keymark()?.with_file_name("libkeymark_pcsc.so");
    let through_gpg = pcsc::measure(&decryption, &driver)?;
    through_gpg.into_iter().for_each(&mut say);
    say(spawn::measure(&case(
        "cv25519",
        Operation::Decrypt,
        StackName::Gnupg,
    )?)?);
    Ok(kept)
}

/// The keymark that was built beside this program.
fn keymark() -> Result<PathBuf, Failure> {
    let path = std::env::current_exe()?.with_file_name("keymark");
    if path.exists() {
        Ok(path)
    } else {
        Err("build keymark first: make build".into())
    }
}

fn case(algorithm: &str, operation: Operation, stack: StackName) -> Result<Case, Failure> {
    let algorithm: Algorithm = algorithm.parse()?;
    Ok(Case {
        device: DeviceName::software(),
        store: StoreKind::Software,
        provenance: Provenance::Measured,
        algorithm,
        operation,
        stack,
        load: Load::closed(NonZeroU32::MIN),
        protection: Protection::None,
        input_bytes: 16,
        replica: 0,
    })
}
