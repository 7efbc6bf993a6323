//! `make overhead`: prints every figure with its limit, and exits with 1 when one is missed.
//! `--markdown FILE` also writes them as a page, `--only NAME` measures the claims of one module.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::process::ExitCode;

use keymark_bench::algorithm::Algorithm;
use keymark_bench::case::{Case, DeviceName, Load, Parameters, Provenance, StackName, StoreKind};
use keymark_bench::operation::Operation;
use keymark_stores::pkcs11::process;
use keymark_tools::markdown;
use keymark_tools::setting::{Setting, keymark};
use keymark_tools::{
    Failure, Figure, analysis, card, mcu, pcsc, pkcs11, pkcs11_module, raw, signature, spawn,
    start, view,
};

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
        [] => Ok(all_kept(&figures(&CLAIMS)?)),
        [argument] if argument == analysis::ARGUMENT => {
            let case = case("ed25519", Operation::Sign, StackName::RAW)?;
            println!("{}", analysis::analyse(&case)?);
            Ok(true)
        }
        [argument] if argument == view::ARGUMENT => {
            let case = case("rsa2048", Operation::Sign, StackName::RAW)?;
            println!("ratio {}", view::compare(&case)?);
            Ok(true)
        }
        // As keymark does, the module is used in a process of its own.
        [argument] if argument == process::SUBCOMMAND => {
            process::serve()?;
            Ok(true)
        }
        [argument, more @ ..] if argument == pkcs11::ARGUMENT => {
            println!("{}", pkcs11::compare(more)?);
            Ok(true)
        }
        [option, name] if option == "--only" => {
            let mut claims = CLAIMS.iter();
            let wanted = claims.find(|(known, _)| name == *known);
            let names: Vec<_> = CLAIMS.iter().map(|(name, _)| *name).collect();
            let wanted = wanted.ok_or_else(|| format!("--only takes {}", names.join(", ")))?;
            Ok(all_kept(&figures(std::slice::from_ref(wanted))?))
        }
        [option, file] if option == "--markdown" => {
            let figures = figures(&CLAIMS)?;
            markdown::write(
                file.as_ref(),
                &markdown::CLAIMS,
                &figures,
                &Setting::here()?,
            )?;
            Ok(all_kept(&figures))
        }
        _ => Err("usage: overhead [--markdown FILE | --only NAME]".into()),
    }
}

fn all_kept(figures: &[Figure]) -> bool {
    figures.iter().all(Figure::is_kept)
}

/// What is claimed, by the name of its module, and what measures it.
type Claim = (&'static str, fn() -> Result<Vec<Figure>, Failure>);

const CLAIMS: [Claim; 11] = [
    ("start", || Ok(vec![start::measure(&keymark()?)?])),
    ("analysis", || Ok(analysis::measure()?.into())),
    ("raw", || {
        let algorithms = ["rsa2048", "rsa4096", "nistp256", "ed25519"].into_iter();
        let measure = |algorithm| raw::measure(&case(algorithm, Operation::Sign, StackName::RAW)?);
        algorithms.map(measure).collect()
    }),
    ("view", || Ok(vec![view::measure()?])),
    ("pkcs11", pkcs11::measure),
    ("pkcs11-module", pkcs11_module::measure),
    ("card", || {
        let keys = [
            ("cv25519", Operation::Decrypt),
            ("rsa2048", Operation::Sign),
        ];
        let measure =
            |(algorithm, operation)| card::measure(&case(algorithm, operation, StackName::RAW)?);
        let mut figures = keys
            .into_iter()
            .map(measure)
            .collect::<Result<Vec<_>, _>>()?;
        figures.extend(card::twins(&case(
            "cv25519",
            Operation::Decrypt,
            StackName::RAW,
        )?)?);
        Ok(figures)
    }),
    ("signature", || {
        let measure =
            |algorithm| signature::measure(&case(algorithm, Operation::Sign, StackName::GNUPG)?);
        ["ed25519", "rsa4096"].into_iter().map(measure).collect()
    }),
    ("mcu", mcu::measure),
    ("pcsc", || {
        let driver = keymark()?.with_file_name("libkeymark_pcsc.so");
        pcsc::measure(
            &case("cv25519", Operation::Decrypt, StackName::RAW)?,
            &driver,
        )
    }),
    ("spawn", || {
        let case = case("cv25519", Operation::Decrypt, StackName::GNUPG)?;
        Ok(vec![spawn::measure(&case)?])
    }),
];

/// Each is printed as soon as its module has measured it.
fn figures(claims: &[Claim]) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for (_, measure) in claims {
        for figure in measure()? {
            println!("{figure}");
            figures.push(figure);
        }
    }
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
        parameters: Parameters::NONE,
        load: Load::closed(NonZeroU32::MIN),
        input_bytes: 16,
        replica: 0,
    })
}
