//! Cost of checking a signed message, of which every sample of `gpg --sign` has one.

use std::sync::Arc;

use keymark_bench::case::Case;
use keymark_bench::workload::{Stack, Verifiable};
use keymark_stacks::gnupg::Gnupg;
use keymark_stacks::gnupg::homes::GnupgHomes;
use keymark_stacks::gnupg::process::GnupgStack;
use keymark_stores::software::SoftwareStore;

use super::figure::{Failure, Figure, Limit, median, time};

const CHECKS: usize = 1000;

/// Median of the times of single checks of one message of gpg's.
pub(crate) fn measure(case: &Case) -> Result<Figure, Failure> {
    let homes = Arc::new(GnupgHomes::new(Gnupg::find(None)?)?);
    let stack = GnupgStack::new(homes, Arc::new(SoftwareStore::default()));
    let mut workload = stack.prepare(case)?;
    let input = workload.inputs[0].clone();
    let handle = &mut workload.crew.handles()[0];
    let mut output = vec![0; workload.output_capacity];
    handle.arm(&input)?;
    let performed = handle.perform(&input, &mut output)?;
    let length = handle.collect(performed, &mut output)?;
    let signed = [Verifiable {
        input: 0,
        output: &output[..length],
    }];
    // The first check also asks gpg.
    let check = || {
        workload
            .verifier
            .verify(&signed)
            .into_iter()
            .collect::<Result<(), _>>()
    };
    check()?;
    let mut times = Vec::with_capacity(CHECKS);
    for _ in 0..CHECKS {
        times.push(time(check)?.as_secs_f64() * 1e6);
    }
    let algorithm = case.algorithm;
    let name = format!("check of a message signed by gpg, {algorithm}, median of {CHECKS}");
    Ok(Figure::new(
        name,
        median(times),
        Limit::AtMost(200.0),
        " µs",
    ))
}
