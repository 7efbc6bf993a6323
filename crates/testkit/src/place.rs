//! A keymark with temporary files and an archive of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A short run of the library alone.
pub const SHORT: &str = "bench --algorithm ed25519,rsa2048 --stack raw --samples 50 --seed 1";

/// Arguments of keymark: the words of a line, or a list where a word may hold anything.
pub trait CommandLine {
    /// Word by word.
    fn words(&self) -> Vec<&str>;
}

impl CommandLine for str {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl CommandLine for String {
    fn words(&self) -> Vec<&str> {
        self.as_str().words()
    }
}

impl CommandLine for [&str] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> CommandLine for [&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl CommandLine for Vec<&str> {
    fn words(&self) -> Vec<&str> {
        self.clone()
    }
}

/// Directory for the files of keymark's children in one test; gone with the value.
#[derive(Debug)]
pub struct Place {
    program: PathBuf,
    directory: TempDir,
}

impl Place {
    /// A place for the program: `env!("CARGO_BIN_EXE_keymark")`, which cargo tells keymark's own
    /// tests alone.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let place = Self {
            program: program.into(),
            directory: short_directory(),
        };
        std::fs::create_dir(place.temporary()).unwrap();
        place
    }

    /// The place itself.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// keymark's `TMPDIR`.
    pub fn temporary(&self) -> PathBuf {
        self.path("t")
    }

    /// keymark's archive.
    pub fn archive(&self) -> PathBuf {
        self.path("runs.sqlite3")
    }

    /// Returns the files that keymark has not removed.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.temporary()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Asserts that keymark has left no file and that the processes that it started end.
    pub fn assert_gone(&self) {
        assert_eq!(self.leftovers(), Vec::<PathBuf>::new());
        let gone = || crate::process::naming(&self.temporary()) == 0;
        crate::waiting::until("the processes have ended", gone);
    }

    /// keymark with these arguments, to be run.
    pub fn keymark(&self, arguments: &(impl CommandLine + ?Sized)) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments.words())
            .env("TMPDIR", self.temporary())
            .env("KEYMARK_ARCHIVE", self.archive())
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_DATA_HOME", self.path("data"))
            // A pcscd of this machine, and what is in its readers, is no part of a test.
            .env("PCSCLITE_CSOCK_NAME", "/nonexistent");
        command
    }

    /// Runs keymark to its end.
    pub fn output(&self, arguments: &(impl CommandLine + ?Sized)) -> Output {
        self.keymark(arguments).output().unwrap()
    }

    /// Returns the output of a successful keymark.
    pub fn stdout(&self, arguments: &(impl CommandLine + ?Sized)) -> String {
        let output = self.output(arguments);
        let said = text(&output.stderr);
        assert!(output.status.success(), "{:?}: {said}", arguments.words());
        text(&output.stdout)
    }

    /// The last run as it is exchanged, which the schema allows.
    pub fn record(&self) -> Value {
        let exported = self.stdout("export last --format record");
        let record: Value = serde_json::from_str(&exported).unwrap();
        assert_schema_allows(&record);
        record
    }

    /// Imports a record and returns keymark's messages.
    pub fn import(&self, record: &Value) -> String {
        let file = self.path("import.json");
        std::fs::write(&file, record.to_string()).unwrap();
        self.stdout(&format!("import {}", file.display()))
    }

    /// The rows that keymark prints when it succeeds.
    pub fn rows(&self, arguments: &(impl CommandLine + ?Sized)) -> Vec<Value> {
        let mut rows = objects(&self.stdout(arguments));
        // Cases take turns, and are told of when they end.
        rows.sort_by_key(|row| row["id"].as_u64());
        rows
    }

    /// Measures with these options, and returns the rows.
    pub fn bench(&self, options: &str) -> Vec<Value> {
        self.rows(&format!("bench --format json {options}"))
    }

    /// Runs keymark to its end, which has that status.
    #[track_caller]
    pub fn ends(&self, arguments: &(impl CommandLine + ?Sized), status: i32) -> Transcript {
        self.keymark(arguments).ends(status)
    }

    /// Returns the messages of a keymark that ends with that status.
    pub fn refused(&self, arguments: &(impl CommandLine + ?Sized), status: i32) -> String {
        self.ends(arguments, status).stderr
    }
}

/// The output of a program that has ended.
#[derive(Debug)]
pub struct Transcript {
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Transcript {
    /// Everything it wrote.
    pub fn said(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// The rows among what it wrote.
    pub fn rows(&self) -> Vec<Value> {
        objects(&self.stdout)
    }
}

/// A program that a test runs to its end.
pub trait Ends {
    /// Runs it, and asserts its status.
    fn ends(&mut self, status: i32) -> Transcript;
}

impl Ends for Command {
    #[track_caller]
    fn ends(&mut self, status: i32) -> Transcript {
        let output = ended(self.output().unwrap(), status);
        Transcript {
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }
}

/// Asserts that an object has these fields with these values.
#[track_caller]
pub fn assert_has(object: &Value, fields: Value) {
    for (name, value) in fields.as_object().unwrap() {
        assert_eq!(&object[name], value, "{name}: {object}");
    }
}

/// Asserts that the schema of records allows that.
#[track_caller]
pub fn assert_schema_allows(record: &Value) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/record-1.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors = validator.iter_errors(record);
    let errors: Vec<String> = errors.map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

/// A private directory under `/tmp`, whatever `TMPDIR` is: the path of a socket has 108 octets.
pub fn short_directory() -> TempDir {
    let mut builder = tempfile::Builder::new();
    builder.prefix("km").tempdir_in("/tmp").unwrap()
}

/// Returns the output of a program as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Everything a program wrote.
pub fn said(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

/// Checks the status of an ended program.
#[track_caller]
pub fn ended(output: Output, status: i32) -> Output {
    assert_eq!(output.status.code(), Some(status), "{}", said(&output));
    output
}

/// JSON, one object a line.
pub fn objects(lines: &str) -> Vec<Value> {
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .filter(|object: &Value| {
            !object.get("verdict").is_some_and(Value::is_object) || object.get("sections").is_some()
        })
        .collect()
}
