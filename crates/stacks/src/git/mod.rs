//! The stack `git`: one `git commit` process for each operation, in a private repository, signed by gpg or ssh-keygen, or
//! not signed. The user's configuration of git is neither read nor written.
//!
//! Offers on a device, formats of signatures, layers, and the preparation of cases are here.

mod repository;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use keymark_bench::store::Capability;
use keymark_bench::words::words;
use keymark_bench::workload::{Crew, Input, Verifiable, Workload};
use keymark_bench::{
    Case, Dimension, During as _, End, Error, LayerStep, Layers, Operation, Parameters, Point,
    StackName, Words,
};
use keymark_stores::access::AccessKind;
use keymark_stores::device::{Device, Run};
use keymark_stores::store::{KeyStore, unsupported};

use crate::gnupg::{self, PROTECTION, Protection};
use crate::installed::{BroughtBy, Program, SearchPath, Version};
use crate::private_dir::PrivateDir;
use crate::programs::write_private;
use crate::provider::{Opener, StackFamily, StackProvider, Way};
use crate::ssh::{self, SshProvider, key};
use repository::{COMMITTER, CommitProcess, Repository, Signing};

const STACK: StackName = StackName::of("git");
const GIT: Program = Program {
    name: "git",
    files: &["git"],
    brought_by: BroughtBy::Package("git"),
    version: &[("--version", "git version ")],
};
/// git calls gpg without keymark's options: it must not ask, nor encrypt to anybody.
const GPG_CONFIGURATION: &[u8] = b"batch\nno-tty\npinentry-mode error\nno-encrypt-to\n";

/// `git`, on keys in files, on OpenPGP cards by gpg, and on tokens behind PKCS#11 modules.
pub const FAMILY: StackFamily = StackFamily {
    stacks: || vec![STACK],
    look: Some(|| {
        Box::new(GitProvider {
            git: GIT.find(&SearchPath::of(None)),
            signers: SshProvider::find(),
        })
    }),
    dimensions: &[FORMAT, PROTECTION],
    layers: || Some(layers()),
    ..StackFamily::ON_REQUEST
};

/// Each case says one.
const FORMAT: Dimension = Dimension::of_family(
    "format",
    "format of a commit's signature",
    Words::Listed(CommitFormat::WORDS),
);

words! {
    /// Format of a commit's signature (`gpg.format`), and how its program reaches the key.
    pub enum CommitFormat("format of a commit's signature") {
        /// No signature.
        Unsigned = "unsigned",
        /// OpenPGP, by gpg.
        OpenPgp = "openpgp",
        /// SSH, by ssh-keygen with the key in a file.
        Ssh = "ssh",
        /// SSH, by ssh-keygen that asks an ssh-agent.
        SshAgent = "ssh-agent",
    }
}

fn parameters(format: CommitFormat, protection: Protection) -> Parameters {
    Parameters::of(&FORMAT, format).with(&PROTECTION, protection)
}

#[derive(Debug)]
struct GitProvider {
    git: Result<(PathBuf, Version), Error>,
    signers: SshProvider,
}

impl StackProvider for GitProvider {
    fn ways(&self, device: &dyn Device) -> Vec<Way> {
        let way = |format, protection, found| {
            Way::on_request(STACK, found, vec![parameters(format, protection)])
        };
        let signed = |(format, protection)| way(format, protection, self.offered(device, format));
        let mut ways: Vec<Way> = signed_formats(device).map(signed).collect();
        // A commit without a signature is the layer below each with one.
        let keys = ways.iter().flat_map(|way| way.found.iter().flatten());
        let keys: BTreeSet<Capability> = keys.copied().collect();
        if !ways.is_empty() {
            let keys = Ok(keys.into_iter().collect());
            ways.insert(0, way(CommitFormat::Unsigned, Protection::None, keys));
        }
        ways
    }

    fn versions(&self, device: &dyn Device) -> BTreeMap<String, String> {
        let mut versions = self.signers.versions(device);
        if let Ok((_, version)) = &self.git {
            versions.insert("git".to_owned(), version.to_string());
        }
        versions
    }

    fn open(&self, _: &Run) -> Result<Opener, Error> {
        let keys = Arc::new(GitKeys {
            git: self.git.clone()?.0,
            agents: ssh::Agents::new(&self.signers)?,
            directory: PrivateDir::new()?,
        });
        Ok(Box::new(move |_, store| {
            let keys = Arc::clone(&keys);
            Box::new(move |case: &Case| keys.prepare(store.as_ref(), case))
        }))
    }
}

impl GitProvider {
    /// Returns the keys of the device that sign commits in that format.
    fn offered(&self, device: &dyn Device, format: CommitFormat) -> Result<Vec<Capability>, Error> {
        let (_, version) = self.git.as_ref().map_err(Clone::clone)?;
        if format == CommitFormat::OpenPgp {
            let gnupg = gnupg::reachable(&self.signers.gnupg, device)?;
            let mut offered = gnupg::offered(gnupg, device, StackName::GPG);
            offered.retain(|capability| capability.operation == Operation::Sign);
            return Ok(offered);
        }
        if !version.is_at_least(2, 34, 0) {
            let name = "git 2.34 or newer, which signs with SSH keys,";
            return Err(Program { name, ..GIT }.missing(format!("git is version {version}")));
        }
        self.signers.openssh.as_ref().map_err(Clone::clone)?;
        if device.has(AccessKind::Module) {
            crate::provider::has_key_on_token(device)?;
        }
        Ok(ssh::keys(device, Operation::Sign))
    }
}

/// Returns the signed formats for a device's keys, each with the protection of the key.
fn signed_formats(device: &dyn Device) -> impl Iterator<Item = (CommitFormat, Protection)> {
    let (file, module) = (
        device.has(AccessKind::KeyFile),
        device.has(AccessKind::Module),
    );
    let any = file || module || device.has(AccessKind::Card);
    let formats = [
        (CommitFormat::OpenPgp, Protection::None, any),
        (CommitFormat::OpenPgp, Protection::Cached, file),
        (CommitFormat::Ssh, Protection::None, file),
        (CommitFormat::SshAgent, Protection::None, file || module),
    ];
    let possible = formats.into_iter().filter(|(.., possible)| *possible);
    possible.map(|(format, protection, _)| (format, protection))
}

/// The repositories of a run, and the homes and agents of their keys.
#[derive(Debug)]
struct GitKeys {
    git: PathBuf,
    agents: ssh::Agents,
    /// Removed last.
    directory: PrivateDir,
}

impl GitKeys {
    /// The stack, on one key store.
    fn prepare(&self, store: &dyn KeyStore, case: &Case) -> Result<Workload, Error> {
        let format: Option<CommitFormat> = case.parameters.read(&FORMAT)?;
        let signing = match format {
            Some(CommitFormat::Unsigned) => Signing::default(),
            Some(CommitFormat::OpenPgp) => self.by_gpg(store, case)?,
            Some(format) => self.by_ssh(store, case, format)?,
            None => return Err(unsupported("git without a format", case.capability())),
        };
        // Several workers in one repository would wait for its locks.
        let mut repositories: Vec<Arc<Repository>> = Vec::new();
        let crew = Crew::threads(case.workers(), |worker| {
            let directory = self.directory.numbered('r')?;
            let repository = Arc::new(Repository::new(&self.git, directory, &signing)?);
            repositories.push(Arc::clone(&repository));
            Ok(Box::new(CommitProcess::new(worker, repository)?))
        })?;
        Ok(Workload {
            crew,
            inputs: [Input { bytes: Vec::new() }].into(),
            verifier: Arc::new(move |result: &Verifiable<'_>| {
                repository::check(&repositories, result)
            }),
            // A number and an id.
            output_capacity: 128,
        })
    }

    fn by_gpg(&self, store: &dyn KeyStore, case: &Case) -> Result<Signing, Error> {
        let home = self.agents.gnupg_homes()?.home_of(case, store)?;
        if home.pin_for(Operation::Sign)?.is_some() {
            return Err(Error::call(
                "signing commits with this card",
                "it needs its PIN for every signature, and git has none for gpg",
                "gpg --card-edit, admin, forcesig makes the card remember its PIN",
            ));
        }
        let path = home.home.path();
        write_private(&path.join("gpg.conf"), GPG_CONFIGURATION)?;
        Ok(Signing {
            settings: vec![("user.signingkey", home.key(Operation::Sign)?.exactly())],
            variable: Some(("GNUPGHOME", path.as_os_str().to_owned())),
            home: Some(home),
            _agent: None,
        })
    }

    fn by_ssh(
        &self,
        store: &dyn KeyStore,
        case: &Case,
        format: CommitFormat,
    ) -> Result<Signing, Error> {
        const WRITING: &str = "writing a key for ssh-keygen";
        let key = store.key(case.capability())?;
        let public = key::public(&store.public_key(&key)?)?
            .to_openssh()
            .during(WRITING)?;
        let access = store.access(&key)?;
        let directory = self.directory.numbered('k')?;
        let [allowed, file] = ["allowed-signers", "key"].map(|name| directory.join(name));
        write_private(&allowed, format!("{COMMITTER} {public}\n").as_bytes())?;
        let agent = if format == CommitFormat::SshAgent {
            write_private(&file, public.as_bytes())?;
            Some(self.agents.openssh_agent(access, case.capability())?)
        } else {
            let private = key::private(&*access.into_file()?)?;
            let private = private
                .to_openssh(ssh_key::LineEnding::LF)
                .during(WRITING)?;
            write_private(&file, private.as_bytes())?;
            None
        };
        let socket = agent
            .as_ref()
            .map(|agent| agent.socket().as_os_str().to_owned());
        Ok(Signing {
            settings: vec![
                ("gpg.format", "ssh".to_owned()),
                ("gpg.ssh.allowedSignersFile", allowed.display().to_string()),
                ("user.signingkey", file.display().to_string()),
            ],
            variable: socket.map(|socket| ("SSH_AUTH_SOCK", socket)),
            home: None,
            _agent: agent,
        })
    }
}

/// The commit alone, and what each program adds that signs it: itself, its agent and the key.
fn layers() -> Layers {
    let point = |format, protection| Point::new(STACK, parameters(format, protection));
    let (plain, cached) = (Protection::None, Protection::Cached);
    let unsigned = point(CommitFormat::Unsigned, plain);
    let step = |heading, format, protection| {
        LayerStep::new(heading, &point(format, protection), &unsigned)
    };
    Layers {
        family: "signing commits",
        base: End::called("commit", unsigned.clone()),
        own_library: None,
        steps: vec![
            step("+ gpg", CommitFormat::OpenPgp, plain),
            step("+ gpg, S2K", CommitFormat::OpenPgp, cached),
            step("+ ssh-keygen", CommitFormat::Ssh, plain),
            step("+ ssh-keygen, agent", CommitFormat::SshAgent, plain),
        ],
        whole: None,
        bottleneck: None,
    }
}
