//! Record of changes to tokens that outlive this run: on disk before it is done, so that it can be
//! undone by the next keymark if this one dies.
//!
//! A journal is a file of lines, each one JSON object, which are only ever added: the run and the token,
//! what a place held and what it is about to get, then that it was written, then that it was undone. The
//! file is locked while its keymark lives and removed when everything is undone.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use etcetera::base_strategy::{BaseStrategy, Xdg};
use keymark_bench::{During as _, Error};
use parking_lot::{Mutex, MutexGuard};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::user::TokenId;

const FORMAT: u32 = 1;
const SUFFIX: &str = ".journal";
/// More than any run writes; what is longer is no journal.
const LONGEST: u64 = 1 << 20;

/// A test key that takes the place of what was there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestKeyWrite {
    /// Place on the token: `SIG`.
    pub place: String,
    /// Previous content of the place.
    pub before: Value,
    /// Properties that tell the test key from every other.
    pub test_key: Value,
}

impl TestKeyWrite {
    pub(crate) fn new(
        place: String,
        before: &impl Serialize,
        test_key: &impl Serialize,
    ) -> Result<Self, Error> {
        let noted = |error| Error::call("noting a test key in the journal", error, "");
        Ok(Self {
            place,
            before: serde_json::to_value(before).map_err(noted)?,
            test_key: serde_json::to_value(test_key).map_err(noted)?,
        })
    }

    /// Returns the previous content of the place, if it is that family's.
    #[cfg(feature = "cards")]
    pub(crate) fn before<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(&self.before).ok()
    }

    /// The test key, if it is that family's.
    pub(crate) fn test_key<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(&self.test_key).ok()
    }
}

/// Progress of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteProgress {
    /// The write may have been begun, and may have got anywhere.
    Begun,
    /// The test key is there.
    Written,
    /// The test key is gone.
    Undone,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum JournalLine {
    Journal {
        format: u32,
        run: String,
        token: TokenId,
    },
    Write(TestKeyWrite),
    Written {
        place: String,
    },
    Undone {
        place: String,
    },
}

/// Content of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// The run that writes.
    pub run: String,
    /// The token that is written to.
    pub token: TokenId,
    /// Each place once, in the order of the writes.
    pub writes: Vec<(TestKeyWrite, WriteProgress)>,
}

impl Content {
    /// Reads a journal. A last line that is not ended was being written when its keymark died, before what
    /// it announces.
    pub fn parse(text: &str) -> Result<Self, String> {
        let ended = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut lines = ended.lines().enumerate().map(|(number, line)| {
            serde_json::from_str::<JournalLine>(line)
                .map_err(|error| format!("line {}: {error}", number + 1))
        });
        let Some(JournalLine::Journal { format, run, token }) = lines.next().transpose()? else {
            return Err("it does not begin with its run and token".to_owned());
        };
        if format != FORMAT {
            return Err(format!("it is of format {format}, not {FORMAT}"));
        }
        let writes = Vec::new();
        let mut content = Self { run, token, writes };
        for line in lines {
            content.take(line?)?;
        }
        Ok(content)
    }

    fn take(&mut self, line: JournalLine) -> Result<(), String> {
        match line {
            JournalLine::Journal { .. } => Err("it begins twice".to_owned()),
            JournalLine::Write(write) => {
                if self
                    .writes
                    .iter()
                    .any(|(known, _)| known.place == write.place)
                {
                    return Err(format!("{} is written twice", write.place));
                }
                self.writes.push((write, WriteProgress::Begun));
                Ok(())
            }
            JournalLine::Written { place } => self.note(&place, WriteProgress::Written),
            JournalLine::Undone { place } => self.note(&place, WriteProgress::Undone),
        }
    }

    fn note(&mut self, place: &str, progress: WriteProgress) -> Result<(), String> {
        let write = self
            .writes
            .iter_mut()
            .find(|(write, _)| write.place == place);
        let (_, now) = write.ok_or_else(|| format!("cannot write to {place}"))?;
        *now = progress;
        Ok(())
    }

    /// Returns the writes that are still to be undone, with their progress.
    pub fn open(&self) -> Vec<(TestKeyWrite, WriteProgress)> {
        let open =
            |(_, progress): &&(TestKeyWrite, WriteProgress)| *progress != WriteProgress::Undone;
        self.writes.iter().filter(open).cloned().collect()
    }
}

/// The journal of a token and run. Dropping it leaves it on disk for the next keymark.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// Locked.
    file: File,
    content: Content,
}

impl Journal {
    /// Returns its content.
    pub const fn content(&self) -> &Content {
        &self.content
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes a write that is about to be begun.
    pub fn begin(&mut self, write: TestKeyWrite) -> Result<(), Error> {
        self.add(JournalLine::Write(write))
    }

    /// Notes that the test key is there.
    pub fn written(&mut self, place: &str) -> Result<(), Error> {
        let place = place.to_owned();
        self.add(JournalLine::Written { place })
    }

    /// Notes that the test key is gone.
    pub fn undone(&mut self, place: &str) -> Result<(), Error> {
        let place = place.to_owned();
        self.add(JournalLine::Undone { place })
    }

    /// Removes it: everything is undone.
    pub fn close(self) -> Result<(), Error> {
        fs::remove_file(&self.path).map_err(|error| failed("removing", &self.path, error))
    }

    /// Undoes all that can be, and then removes the journal; what cannot be stays in it. `places` is before each
    /// place in messages.
    pub(crate) fn undo_all(
        mut self,
        token: &TokenId,
        places: &str,
        mut undo: impl FnMut(&TestKeyWrite, WriteProgress) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.check_token(token)?;
        let mut kept = Vec::new();
        for (write, progress) in self.content.open() {
            let undone = undo(&write, progress).and_then(|()| self.undone(&write.place));
            if let Err(error) = undone {
                kept.push(format!("{places}{}: {error}", write.place));
            }
        }
        if kept.is_empty() {
            return self.close();
        }
        let serial = token.serial();
        Err(Error::call(
            format!("removing the test keys from {token}"),
            kept.join("; "),
            format!(
                "the token keeps them until 'keymark devices restore {serial}' has removed them"
            ),
        ))
    }

    /// Checks whether something on that token is to be undone by it.
    pub(crate) fn check_token(&self, token: &TokenId) -> Result<(), Error> {
        let of = &self.content.token;
        if of == token || self.content.open().is_empty() {
            return Ok(());
        }
        let call = format!("removing the test keys from {token}");
        Err(Error::call(
            call,
            format!("the journal is that of {of}"),
            "",
        ))
    }

    fn add(&mut self, line: JournalLine) -> Result<(), Error> {
        append(&mut self.file, &line).map_err(|error| failed("writing", &self.path, error))?;
        let taken = self.content.take(line);
        taken.map_err(|reason| failed("writing", &self.path, io::Error::other(reason)))
    }
}

/// Adds the whole line or, when the disk is full, nothing: what is added next would make half a line
/// unreadable.
fn append(file: &mut File, line: &JournalLine) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    let before = file.metadata()?.len();
    let added = file.write_all(&text).and_then(|()| file.sync_all());
    if added.is_err() {
        // If it stays, the next keymark drops it as long as nothing follows.
        let _ = file.set_len(before);
    }
    added
}

fn failed(call: &str, path: &Path, error: io::Error) -> Error {
    Error::call(
        format!("{call} the journal {}", path.display()),
        error,
        "keymark notes there what it changes on a token; $XDG_STATE_HOME chooses another place",
    )
}

/// Journal of one run on one token, from its first write on.
#[derive(Debug, Default)]
pub(crate) struct RunJournal {
    place: OnceLock<(Journals, String)>,
    journal: Mutex<Option<Journal>>,
}

impl RunJournal {
    /// Lets test keys be written by that run. The first call counts.
    pub(crate) fn keep_in(&self, journals: Journals, run: &str) {
        let _ = self.place.set((journals, run.to_owned()));
    }

    /// Keeps everybody else from writing meanwhile.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Journal>> {
        self.journal.lock()
    }

    /// The journal that was locked, begun if nothing was written yet.
    pub(crate) fn begun<'j>(
        &self,
        journal: &'j mut Option<Journal>,
        token: &TokenId,
    ) -> Result<&'j mut Journal, Error> {
        let begun = match journal.take() {
            Some(begun) => begun,
            None => {
                let (journals, run) = self.place.get().ok_or_else(|| {
                    let reason = "no journal can be kept to undo it";
                    Error::call(format!("writing to {token}"), reason, "is $HOME set?")
                })?;
                journals.begin(run, token)?
            }
        };
        Ok(journal.insert(begun))
    }
}

/// Directory of journals.
#[derive(Debug, Clone)]
pub struct Journals(PathBuf);

impl Journals {
    /// Returns that of the user's state directory.
    pub fn of_user() -> Result<Self, Error> {
        let base = Xdg::new().during("looking for a home")?;
        let state = base.state_dir().unwrap_or_else(|| base.data_dir());
        Ok(Self(state.join("keymark").join("journal")))
    }

    /// Returns that of a given directory.
    pub const fn within(directory: PathBuf) -> Self {
        Self(directory)
    }

    /// Returns their directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Begins the journal of a token and run.
    pub fn begin(&self, run: &str, token: &TokenId) -> Result<Journal, Error> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.0)
            .map_err(|error| failed("making the directory of", &self.0, error))?;
        let of_token = |left: &Journal| left.content.token == *token;
        if let Some(left) = self.left().journals.iter().find(|left| of_token(left)) {
            return Err(Error::call(
                format!("writing to {token}"),
                format!("run {} left a test key on it", left.content.run),
                format!("'keymark devices restore {}' removes it", token.serial()),
            ));
        }
        let safe = |letter: char| letter.is_ascii_alphanumeric() || "-.".contains(letter);
        let of_token = format!("{token}.").replace(|letter| !safe(letter), "-");
        let name = run.replace(|letter| !safe(letter), "-");
        let path = self.0.join(format!("{of_token}{name}{SUFFIX}"));
        let journal = self
            .create(&path, run, token)
            .map_err(|error| failed("beginning", &path, error))?;
        // Only now: of two that begin at once, each sees the other's.
        match self.at_work(&of_token, &path) {
            None => Ok(journal),
            Some(other) => {
                journal.close()?;
                Err(Error::call(
                    format!("writing to {token}"),
                    format!("run {other} is writing to it"),
                    "wait until it has ended",
                ))
            }
        }
    }

    /// Another run that has locked a journal whose name begins so.
    fn at_work(&self, of_token: &str, own: &Path) -> Option<String> {
        let mut entries = fs::read_dir(&self.0).ok()?.flatten();
        entries.find_map(|entry| {
            let name = entry.file_name();
            let run = name.to_str()?.strip_prefix(of_token)?;
            let run = run.strip_suffix(SUFFIX)?.to_owned();
            let is_locked = || {
                let file = File::open(entry.path()).ok()?;
                Some(matches!(
                    file.try_lock_shared(),
                    Err(fs::TryLockError::WouldBlock)
                ))
            };
            (entry.path() != own && is_locked()?).then_some(run)
        })
    }

    /// Under its name it is locked and has its first line.
    fn create(&self, path: &Path, run: &str, token: &TokenId) -> io::Result<Journal> {
        let unnamed = path.with_extension("new");
        let mut file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .mode(0o600)
            .open(&unnamed)?;
        file.lock()?;
        let line = JournalLine::Journal {
            format: FORMAT,
            run: run.to_owned(),
            token: token.clone(),
        };
        append(&mut file, &line)?;
        fs::rename(&unnamed, path)?;
        File::open(&self.0)?.sync_all()?;
        Ok(Journal {
            path: path.to_owned(),
            file,
            content: Content {
                run: run.to_owned(),
                token: token.clone(),
                writes: Vec::new(),
            },
        })
    }

    /// Takes over journals whose keymark is gone. Nobody else has them until they are dropped.
    pub fn left(&self) -> Left {
        let mut left = Left::default();
        let Ok(entries) = fs::read_dir(&self.0) else {
            return left;
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let suffix = SUFFIX.as_bytes();
        paths.retain(|path| path.as_os_str().as_encoded_bytes().ends_with(suffix));
        paths.sort();
        for path in paths {
            match take(&path) {
                Ok(Some(journal)) if journal.content.open().is_empty() => {
                    // Its keymark died before its first write, or after the last was undone.
                    let _ = journal.close();
                }
                Ok(Some(journal)) => left.journals.push(journal),
                Ok(None) => {}
                Err(error) => left.unreadable.push(failed("reading", &path, error)),
            }
        }
        left
    }
}

/// Journals that dead keymarks have left.
#[derive(Debug, Default)]
pub struct Left {
    /// Journals by token and run.
    pub journals: Vec<Journal>,
    /// Files that nobody can make sense of.
    pub unreadable: Vec<Error>,
}

/// The journal, if its keymark is gone.
fn take(path: &Path) -> io::Result<Option<Journal>> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => return Ok(None),
        Err(fs::TryLockError::Error(error)) => return Err(error),
    }
    let mut text = String::new();
    (&mut file).take(LONGEST).read_to_string(&mut text)?;
    let content = Content::parse(&text).map_err(io::Error::other)?;
    let ended = text.rfind('\n').map_or(0, |end| end + 1);
    // What is added next begins a line of its own.
    file.set_len(ended as u64)?;
    Ok(Some(Journal {
        path: path.to_owned(),
        file,
        content,
    }))
}

#[cfg(test)]
mod tests;
