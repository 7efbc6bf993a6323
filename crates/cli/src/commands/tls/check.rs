//! `keymark tls check`

use keymark_stacks::tls::servers::check::{self, Verdict};
use keymark_stacks::tls::servers::{Installed, SearchPath, kind};

use super::super::Outcome;
use crate::args::TlsCheckArguments;
use crate::exit::{Exit, Failure};
use crate::output;

pub(super) fn run(arguments: &TlsCheckArguments) -> Outcome {
    // Of an nginx that is not here nobody knows the version.
    let nginx = kind("nginx").ok();
    let nginx = nginx.and_then(|nginx| Installed::find(nginx, &SearchPath::usual()).ok());
    let nginx = nginx.as_ref().map(|nginx| &nginx.version);
    let report = check::file(&arguments.file, None, nginx).map_err(Failure::nothing_usable)?;
    output::print(&report.to_string());
    let hosts = &report.hosts;
    let all = !hosts.is_empty() && hosts.iter().all(|host| host.verdict == Verdict::Offered);
    Ok(if all { Exit::Fine } else { Exit::Failed })
}
