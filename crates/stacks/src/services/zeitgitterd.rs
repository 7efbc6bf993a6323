//! zeitgitterd: signs tags of git by a gpg process each, behind a semaphore, and writes each commit down under a lock.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use askama::Template;
use keymark_bench::{Case, During as _, Error, Operation};
use keymark_load::Service;
use keymark_stores::access::Access;
use keymark_stores::places::program;

use super::agents::Agents;
use super::running::{RunningService, ServiceLoads};
use super::tag::Tags;
use super::{AGENTS, InstalledService, ServiceKind, ZEITGITTERD};
use crate::installed::{BroughtBy, Program};
use crate::programs::write_private;
use crate::templates::{Comments, written};

/// Signatures at once for each agent, as its own default has for one.
const SIGNATURES: u8 = 2;
/// Between commits of what was stamped, in seconds; each holds all requests up.
const COMMITS: u64 = 3600;

pub(super) const KIND: ServiceKind = ServiceKind {
    stack: ZEITGITTERD,
    program: Program {
        name: "zeitgitterd",
        files: &["zeitgitterd"],
        brought_by: BroughtBy::Other("install it with 'make services'"),
        version: &[("--version", "")],
    },
    dimensions: &[AGENTS],
    start,
};

#[derive(Template)]
#[template(path = "zeitgitter.conf", escape = "none")]
struct ZeitgitterdConfig<'c> {
    port: u16,
    key: &'c str,
    gnupg_home: String,
    repository: String,
    agents: u8,
    signatures: u8,
    /// Time of the last commit, in seconds within the hour.
    committed: u64,
}

fn start(
    found: &InstalledService,
    case: &Case,
    loads: &ServiceLoads,
) -> Result<RunningService, Error> {
    let agents: u8 = case.parameters.read(&AGENTS)?.unwrap_or(1);
    let store = loads.store(case)?;
    let access = || store.access(&store.key(case.capability())?);
    if agents > 1 && !matches!(access()?, Access::KeyFile(_)) {
        return Err(Error::call(
            "starting zeitgitterd",
            format!(
                "{agents} agents each need a copy of the key, but {} exports none",
                case.device
            ),
            "choose --parameter agents=1, or --device software",
        ));
    }
    let home = loads.homes()?.home_of(case, store.as_ref())?;
    if home.pin_for(Operation::Sign)?.is_some() {
        return Err(Error::call(
            "starting zeitgitterd",
            "the card needs its PIN for every signature",
            "gpg --card-edit, admin, forcesig makes the card remember its PIN",
        ));
    }
    let key = home.key(Operation::Sign)?.fingerprint.clone();
    let signer = home.signer()?;
    let kind = "application/x-www-form-urlencoded";
    let service = Service::post("/", kind, Arc::new(Tags { signer }));
    let behind = Agents::of(home, agents)?;
    let mut running = RunningService::start("zeitgitterd", service, |directory, port| {
        let repository = directory.private.path().join("repository");
        make_repository(&repository)?;
        let configuration = ZeitgitterdConfig {
            port,
            key: &key,
            gnupg_home: behind.home().display().to_string(),
            repository: repository.display().to_string(),
            agents,
            signatures: agents * SIGNATURES,
            committed: within_the_hour(),
        };
        let text = written(&configuration, Comments::Left)?;
        write_private(&directory.configuration, text.as_bytes())?;
        let mut command = program::command(&found.program);
        command.arg("--config-file").arg(&directory.configuration);
        Ok(command)
    })?;
    running.agents = Some(behind);
    running.tell("server_version", &found.version);
    running.tell("agents", agents);
    running.tell("signatures_at_once", agents * SIGNATURES);
    running.tell("commits", "once an hour, none during the load");
    Ok(running)
}

/// A repository whose commits are nobody's (gitrepository-layout(5)): zeitgitterd would make its author of the key's name.
fn make_repository(path: &Path) -> Result<(), Error> {
    let git = path.join(".git");
    for part in ["objects", "refs"] {
        fs::create_dir_all(git.join(part)).during(format_args!("making {}", git.display()))?;
    }
    write_private(&git.join("HEAD"), b"ref: refs/heads/master\n")?;
    let author = b"[user]\n\tname = keymark\n\temail = keymark@localhost\n";
    write_private(&git.join("config"), author)
}

/// The next commit comes an hour after this.
fn within_the_hour() -> u64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    // A little before: it waits for the next one.
    (now.as_secs() + COMMITS - 60) % COMMITS
}
