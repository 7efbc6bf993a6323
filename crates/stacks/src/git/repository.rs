//! A private repository in which one worker commits, and the check of its commits.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use keymark_bench::outside::visible::shortened;
use keymark_bench::workload::{Calculates, Input, KeyHandle, Performed, Verifiable, copy_answer};
use keymark_bench::{During as _, Error, Operation};

use crate::gnupg::{key_home::KeyHome, status};
use crate::program;
use crate::programs::{OperationProcess, write_private};
use crate::ssh::agent::SshAgent;

/// Address of the committer, and principal of SSH signatures.
pub(super) const COMMITTER: &str = "keymark@localhost";
const CALL: &str = "git commit";
const COMMIT: [&str; 4] = ["commit", "--quiet", "--allow-empty", "-mkeymark"];

/// Signatures of the commits in a repository; by default there are none.
#[derive(Debug, Clone, Default)]
pub(super) struct Signing {
    /// Configuration of git; empty without signatures.
    pub(super) settings: Vec<(&'static str, String)>,
    /// Variable by which the signing program finds the key.
    pub(super) variable: Option<(&'static str, OsString)>,
    /// Home of gpg.
    pub(super) home: Option<Arc<KeyHome>>,
    /// Agent of ssh-keygen, which has to outlive the commits.
    pub(super) _agent: Option<Arc<SshAgent>>,
}

/// A repository.
#[derive(Debug)]
pub(super) struct Repository {
    git: PathBuf,
    directory: PathBuf,
    signing: Signing,
}

impl Repository {
    /// Makes one with a first commit in an empty directory.
    pub(super) fn new(git: &Path, directory: PathBuf, signing: &Signing) -> Result<Self, Error> {
        let repository = Self {
            git: git.to_owned(),
            signing: signing.clone(),
            directory,
        };
        // A template may have hooks, and the name of the first branch depends on the version.
        repository.run(&["init", "--quiet", "--template="])?;
        let head = repository.directory.join(".git/HEAD");
        write_private(&head, b"ref: refs/heads/main\n")?;
        let own = [
            ("user.name", "keymark"),
            ("user.email", COMMITTER),
            ("gc.auto", "0"),
        ];
        let signing = { signing.settings.iter() }.map(|(name, value)| (*name, value.as_str()));
        for (name, value) in own.into_iter().chain(signing) {
            repository.run(&["config", name, value])?;
        }
        repository.run(&COMMIT)?;
        Ok(repository)
    }

    /// Returns git in the repository, without the user's configuration and environment.
    fn command(&self) -> Command {
        let mut command = program::command(&self.git);
        command
            .env("HOME", &self.directory)
            // git writes there what is to be signed.
            .env("TMPDIR", &self.directory)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_DEFAULT_REF_FORMAT", "files")
            .envs(self.signing.variable.clone())
            .arg("-C")
            .arg(&self.directory);
        command
    }

    fn run(&self, arguments: &[&str]) -> Result<String, Error> {
        let call = format!("git {}", arguments.first().unwrap_or(&""));
        let done = program::run(self.command().args(arguments), program::WORK).during(&call)?;
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
        }
        let said = complaint(&String::from_utf8_lossy(&done.stderr));
        Err(Error::call(call, format!("{}: {said}", done.status), ""))
    }

    fn is_signed(&self) -> bool {
        !self.signing.settings.is_empty()
    }

    /// Returns the id of the last commit.
    fn head(&self) -> Result<String, Error> {
        let file = self.directory.join(".git/refs/heads/main");
        let id = fs::read_to_string(file).during("reading the id of a commit")?;
        Ok(id.trim_end().to_owned())
    }

    fn check(&self, commit: &str) -> Result<(), String> {
        let checked = match self.is_signed() {
            true => self.run(&["verify-commit", commit]),
            false => self.run(&["show", "--no-patch", "--format=%G?", commit]),
        };
        match checked {
            // N is no signature (git-log(1)).
            Ok(said) if self.is_signed() || said.trim_end() == "N" => Ok(()),
            Ok(_) => Err("the commit has a signature".to_owned()),
            Err(error) => Err(format!("the commit does not verify: {error}")),
        }
    }
}

/// Checks the commit of a result: the number of its repository, and its id.
pub(super) fn check(
    repositories: &[Arc<Repository>],
    result: &Verifiable<'_>,
) -> Result<(), String> {
    let text = std::str::from_utf8(result.output).unwrap_or_default();
    let (place, commit) = text.split_once(' ').unwrap_or_default();
    let repository = place
        .parse()
        .ok()
        .and_then(|place: usize| repositories.get(place));
    repository.ok_or("there is no commit")?.check(commit)
}

/// Commits of one worker.
pub(super) struct CommitProcess {
    repository: Arc<Repository>,
    place: u32,
    process: OperationProcess,
    /// Id of the last commit.
    last: String,
}

impl CommitProcess {
    pub(super) fn new(place: u32, repository: Arc<Repository>) -> Result<Self, Error> {
        let output = repository.directory.join("commit");
        Ok(Self {
            place,
            process: OperationProcess::new(CALL, output),
            last: repository.head()?,
            repository,
        })
    }
}

impl KeyHandle for CommitProcess {
    fn calculates(&self) -> Calculates {
        Calculates::Others
    }

    fn arm(&mut self, _: &Input) -> Result<(), Error> {
        let mut command = self.repository.command();
        let sign = self.repository.is_signed().then_some("-S");
        command.args(COMMIT).args(sign).stdout(Stdio::null());
        self.process.arm(command)?;
        if let Some(home) = &self.repository.signing.home {
            home.ask_for_touch(Operation::Sign);
        }
        Ok(())
    }

    fn perform(&mut self, _: &Input, _: &mut [u8]) -> Result<Performed, Error> {
        let home = self.repository.signing.home.as_ref();
        self.process.run(None, |status, said| {
            let of_key = home.map(|home| home.home.advice()).unwrap_or_default();
            status::failed(CALL, format!("{status}: {}", complaint(said)), said, of_key)
        })
    }

    fn collect(&mut self, _: Performed, output: &mut [u8]) -> Result<usize, Error> {
        let id = self.repository.head()?;
        if id == self.last {
            return Err(Error::call(CALL, "there is no new commit", ""));
        }
        self.last = id;
        copy_answer(
            CALL,
            format!("{} {}", self.place, self.last).as_bytes(),
            output,
        )
    }
}

/// Returns the reason of a failure in a line: the program that signs says it before git does.
fn complaint(said: &str) -> String {
    match said.trim() {
        "" => "no reason given".to_owned(),
        said => shortened(&said.replace('\n', "; "), 400),
    }
}
