//! Claims of keymark about itself, measured: one module a claim, and one for their page.
//!
//! `overhead` prints every figure with its limit; `calibration` compares the same with the same. Both exit with 1 when
//! a limit is missed. `--markdown FILE` also writes the figures into a page, `--only NAME`
//! measures the claims of one module.

mod analysis;
mod c_loop;
mod calibration;
mod card;
mod commits;
mod figure;
mod kryoptic;
mod markdown;
mod mcu;
mod pcsc;
mod pkcs11;
mod pkcs11_module;
mod program;
mod raw;
mod signature;
mod spawn;
#[path = "../../../mcu/tests/it/unmarked.rs"]
mod unmarked;
mod view;

use std::ffi::OsString;

use keymark_bench::case::{Case, Parameters, StackName};
use keymark_bench::operation::Operation;
use keymark_stores::pkcs11::process;

use self::figure::{Failure, Figure};
use self::markdown::Page;

/// Claims by their names behind `--only`, with their measurements.
type Claim = (&'static str, fn() -> Result<Vec<Figure>, Failure>);

const OVERHEAD: &[Claim] = &[
    ("start", || Ok(vec![program::start()?])),
    ("analysis", || Ok(analysis::measure()?.into())),
    ("raw", || {
        let algorithms = ["rsa2048", "rsa4096", "nistp256", "ed25519"].into_iter();
        algorithms
            .map(|algorithm| raw::measure(&sign(algorithm, StackName::RAW)))
            .collect()
    }),
    ("view", || Ok(vec![view::measure()?])),
    ("pkcs11", pkcs11::measure),
    ("pkcs11-module", pkcs11_module::measure),
    ("card", || {
        let decrypt = decrypt(StackName::RAW);
        let mut figures = vec![
            card::measure(&decrypt)?,
            card::measure(&sign("rsa2048", StackName::RAW))?,
        ];
        figures.extend(card::twins(&decrypt)?);
        Ok(figures)
    }),
    ("signature", || {
        let algorithms = ["ed25519", "rsa4096"].into_iter();
        algorithms
            .map(|algorithm| signature::measure(&sign(algorithm, StackName::GPG)))
            .collect()
    }),
    ("mcu", mcu::measure),
    ("pcsc", || pcsc::measure(&decrypt(StackName::RAW))),
    ("spawn", || {
        Ok(vec![spawn::measure(&decrypt(StackName::GPG))?])
    }),
    ("sop", || {
        let parameters = Parameters::from([("program", "rsop")]);
        let case = sign("ed25519", StackName::of("sop"));
        Ok(vec![spawn::sop(&Case { parameters, ..case })?])
    }),
    ("commits", || {
        let parameters = Parameters::from([("format", "ssh")]);
        let case = sign("ed25519", StackName::of("git"));
        Ok(vec![commits::measure(&Case { parameters, ..case })?])
    }),
];

const CALIBRATION: &[Claim] = &[
    ("plans", calibration::within_plans),
    ("runs", calibration::across_runs),
];

pub(crate) fn run(arguments: Vec<OsString>) -> Result<bool, Failure> {
    let [subcommand, more @ ..] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    match subcommand.to_str() {
        Some("overhead") => measure(&markdown::OVERHEAD, OVERHEAD, more),
        Some("calibration") => measure(&markdown::CALIBRATION, CALIBRATION, more),
        Some(analysis::ARGUMENT) => {
            println!("{}", analysis::analyse(&sign("ed25519", StackName::RAW))?);
            Ok(true)
        }
        Some(view::ARGUMENT) => {
            let case = sign("rsa2048", StackName::RAW);
            println!("ratio {}", view::compare(&case)?);
            Ok(true)
        }
        // As keymark does, the module is used in a process of its own.
        Some(process::SUBCOMMAND) => {
            process::serve()?;
            Ok(true)
        }
        Some(pkcs11::ARGUMENT) => {
            println!("{}", pkcs11::compare(more)?);
            Ok(true)
        }
        _ => Err(USAGE.into()),
    }
}

const USAGE: &str = "usage: cargo bench -p keymark --bench figures -- overhead|calibration [--markdown FILE | --only NAME]";

fn measure(description: &Page, claims: &[Claim], options: &[OsString]) -> Result<bool, Failure> {
    let (chosen, page) = match options {
        [] => (claims, None),
        [option, file] if option == "--markdown" => (claims, Some(file)),
        [option, name] if option == "--only" => {
            let chosen = claims.iter().find(|(known, _)| name == *known);
            let names: Vec<_> = claims.iter().map(|(name, _)| *name).collect();
            let chosen = chosen.ok_or_else(|| format!("--only takes {}", names.join(", ")))?;
            (std::slice::from_ref(chosen), None)
        }
        _ => return Err(USAGE.into()),
    };
    let mut figures = Vec::new();
    for (_, measure) in chosen {
        // Each is printed as soon as its module has measured it.
        for figure in measure()? {
            println!("{figure}");
            figures.push(figure);
        }
    }
    if let Some(file) = page {
        markdown::write(file.as_ref(), description, &figures)?;
    }
    Ok(figures.iter().all(Figure::is_kept))
}

fn decrypt(stack: StackName) -> Case {
    keymark_testkit::case("cv25519").stack(stack).build()
}

fn sign(algorithm: &str, stack: StackName) -> Case {
    let case = keymark_testkit::case(algorithm).operation(Operation::Sign);
    case.stack(stack).build()
}
