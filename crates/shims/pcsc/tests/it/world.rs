//! Scenarios in child processes: the test runs itself again with the environment it is about.

use std::path::{Path, PathBuf};

use keymark_testkit::process::{built_library, this_test_program};

/// Names the scenario's folder to the child.
const FOLDER: &str = "KEYMARK_TEST_FOLDER";
/// Everything the library reads.
const VARIABLES: [&str; 4] = [
    "KEYMARK_PCSC_CARD",
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
    let mut child = this_test_program(name);
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

/// The library under test.
pub(crate) fn library_path() -> PathBuf {
    match std::env::var_os("KEYMARK_TEST_LIBRARY") {
        Some(built) => built.into(),
        None => built_library("keymark-pcsc"),
    }
}
