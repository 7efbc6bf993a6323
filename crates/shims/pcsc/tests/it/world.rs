//! Scenarios in child processes: the test runs itself again with the environment it is about.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Names the scenario's folder to the child.
const FOLDER: &str = "KEYMARK_TEST_FOLDER";
/// Everything the library reads.
const VARIABLES: [&str; 5] = [
    "KEYMARK_PCSC_CARD",
    "KEYMARK_PCSC_READER",
    "KEYMARK_PCSC_LIBRARY",
    "KEYMARK_PCSC_TRACE",
    "KEYMARK_PCSC_SHARED",
];

/// Declares a test that runs alone with the variables given, as files of the scenario's folder.
macro_rules! scenario {
    ($name:ident, $variables:expr, |$folder:ident| $body:block) => {
        #[test]
        fn $name() {
            $crate::world::alone(
                concat!(module_path!(), "::", stringify!($name)),
                &$variables,
                |$folder: &std::path::Path| $body,
            );
        }
    };
}
pub(crate) use scenario;

/// Runs the scenario in a child; fails with what it printed.
pub(crate) fn alone(path: &str, variables: &[(&str, &str)], scenario: impl FnOnce(&Path)) {
    let done = |folder: &Path| folder.join("done");
    if let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) {
        scenario(&folder);
        std::fs::write(done(&folder), "").unwrap();
        return;
    }
    let library = library_path();
    let folder = tempfile::tempdir().unwrap();
    let (_, name) = path.split_once("::").unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([name, "--exact", "--nocapture"]);
    for variable in VARIABLES {
        child.env_remove(variable);
    }
    child.envs(variables.iter().map(|(variable, value)| {
        (
            variable,
            value.replace("{}", folder.path().to_str().unwrap()),
        )
    }));
    let output = child
        .env(FOLDER, folder.path())
        .env("KEYMARK_TEST_LIBRARY", library)
        .output()
        .unwrap();
    let said =
        [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    assert!(
        output.status.success(),
        "{}: {}",
        output.status,
        said.concat()
    );
    // A name that matches no test succeeds too.
    assert!(
        done(folder.path()).exists(),
        "{name} did not run: {}",
        said.concat()
    );
}

/// The library under test. Cargo does not build a cdylib for the tests of its package; this does,
/// in the same target directory and profile.
pub(crate) fn library_path() -> PathBuf {
    if let Some(built) = std::env::var_os("KEYMARK_TEST_LIBRARY") {
        return built.into();
    }
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT
        .get_or_init(|| {
            let test = std::env::current_exe().unwrap();
            let profile = test.parent().and_then(Path::parent).unwrap();
            let mut build = Command::new(env!("CARGO"));
            build
                .args(["build", "--offline", "--quiet", "--package", "keymark-pcsc"])
                .arg("--target-dir")
                .arg(profile.parent().unwrap())
                .current_dir(env!("CARGO_MANIFEST_DIR"));
            if profile.ends_with("release") {
                build.arg("--release");
            }
            assert!(build.status().unwrap().success());
            profile.join("libkeymark_pcsc.so")
        })
        .clone()
}
