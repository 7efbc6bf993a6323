//! `keymark service bench --connect`: a timestamping authority that runs already.

use std::path::PathBuf;

use keymark_bench::{Case, MonotonicClock};
use keymark_stacks::services::{RFC3161, RunningAuthority, Services};
use keymark_stacks::tls::Address;

use crate::args::ServiceBenchArguments;
use crate::exit::{Failure, Outcome};
use crate::load::{self, LoadRun};
use crate::{signals, user};

pub(super) fn run(
    address: &Address,
    arguments: &ServiceBenchArguments,
    archive: Option<&PathBuf>,
) -> Outcome {
    let remote = &arguments.remote;
    let addresses = load::own(address, remote.i_own_this_server)?;
    let (interrupt, _) = signals::listen()?;
    let clock = MonotonicClock::new();
    let known = (addresses.as_slice(), remote.authority.as_ref());
    let authority = RunningAuthority::reach(address, &remote.path, known, (&clock, &interrupt));
    let authority = authority.map_err(Failure::nothing_usable)?;
    let identity = address.identity();
    let loads = load::loads(&arguments.load, &super::bench::WORKERS)?;
    let cases = loads.iter().map(|load| Case {
        load: *load,
        ..super::bench::case(&identity, RFC3161, authority.algorithm)
    });
    let run = LoadRun {
        beside: Vec::new(),
        cases: cases.collect(),
        inventory: &load::devices(&[], &user::of_arguments(&arguments.run.card))?,
        elsewhere: Some(identity),
        versions: Vec::new(),
        client: super::client(arguments.case_time),
        arguments: &arguments.run,
    };
    super::measure(run, Services::Running(authority), archive)
}
