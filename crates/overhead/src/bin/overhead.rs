//! `make overhead`: prints every figure with its limit, and exits with 1 when one is missed.
//! `--markdown FILE` also writes them as a page.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::process::ExitCode;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{
    Case, DeviceName, Load, Parameters, Protection, Provenance, StackName, StoreKind,
};
use keymark_bench::operation::Operation;
use keymark_overhead::markdown;
use keymark_overhead::setting::{Setting, keymark};
use keymark_overhead::{Failure, Figure, analysis, card, mcu, pcsc, raw, signature, spawn, start};

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1).collect()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every limit is kept.
fn run(arguments: Vec<OsString>) -> Result<bool, Failure> {
    match arguments.as_slice() {
        [] => Ok(all_kept(&figures()?)),
        [argument] if argument == analysis::ARGUMENT => {
            let case = case("ed25519", Operation::Sign, StackName::RAW)?;
            println!("{}", analysis::analyse(&case)?);
            Ok(true)
        }
        [option, file] if option == "--markdown" => {
            let figures = figures()?;
            markdown::write(
                file.as_ref(),
                &markdown::CLAIMS,
                &figures,
                &Setting::here()?,
            )?;
            Ok(all_kept(&figures))
        }
        _ => Err("usage: overhead [--markdown FILE]".into()),
    }
}

fn all_kept(figures: &[Figure]) -> bool {
    figures.iter().all(Figure::is_kept)
}

/// Each is printed as soon as it is there.
fn figures() -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    let mut say = |figure: Figure| {
        println!("{figure}");
        figures.push(figure);
    };
    say(start::measure(&keymark()?)?);
    analysis::measure()?.into_iter().for_each(&mut say);
    for algorithm in ["rsa2048", "rsa4096", "nistp256", "ed25519"] {
        say(raw::measure(&case(
            algorithm,
            Operation::Sign,
            StackName::RAW,
        )?)?);
    }
    for (algorithm, operation) in [
        ("cv25519", Operation::Decrypt),
        ("rsa2048", Operation::Sign),
    ] {
        say(card::measure(&case(algorithm, operation, StackName::RAW)?)?);
    }
    for algorithm in ["ed25519", "rsa4096"] {
        let case = case(algorithm, Operation::Sign, StackName::GNUPG)?;
        say(signature::measure(&case)?);
    }
    mcu::measure()?.into_iter().for_each(&mut say);
    let decryption = case("cv25519", Operation::Decrypt, StackName::RAW)?;
    card::twins(&decryption)?.into_iter().for_each(&mut say);
    let driver = keymark()?.with_file_name("libkeymark_pcsc.so");
    let through_gpg = pcsc::measure(&decryption, &driver)?;
    through_gpg.into_iter().for_each(&mut say);
    say(spawn::measure(&case(
        "cv25519",
        Operation::Decrypt,
        StackName::GNUPG,
    )?)?);
    Ok(figures)
}

fn case(algorithm: &str, operation: Operation, stack: StackName) -> Result<Case, Failure> {
    let algorithm: Algorithm = algorithm.parse()?;
    Ok(Case {
        device: DeviceName::software(),
        store: StoreKind::SOFTWARE,
        provenance: Provenance::Measured,
        algorithm,
        operation,
        stack,
        parameters: if stack == StackName::RAW {
            Parameters::None
        } else {
            let protection = Protection::None;
            Parameters::Gnupg { protection }
        },
        load: Load::closed(NonZeroU32::MIN),
        input_bytes: 16,
        replica: 0,
    })
}
