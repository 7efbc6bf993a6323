//! The program `openssl` with keys in files: its results pass the check, and wrong ones do not.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

use std::path::Path;
use std::sync::Arc;

use keymark_bench::case::StackName;
use keymark_bench::workload::{KeyHandle, Verifiable, Workload};
use keymark_stacks::openssl::{FAMILY, OpenSsl, OpenSslWay};
use keymark_stacks::provider::Use;
use keymark_stores::device::Run;
use keymark_testkit::case;
use keymark_testkit::process::write_script;

fn workload(
    algorithm: &str,
    operation: &str,
) -> (Workload, Box<dyn keymark_bench::workload::Stack>) {
    let run = Run::new(1);
    let stack = StackName::of("openssl");
    let store = Arc::clone(&run.test_keys) as Arc<dyn keymark_stores::store::KeyStore>;
    let mut stacks = (FAMILY.look)().open(&[Use { stack, store }], &run).unwrap();
    let stack = stacks.remove(0);
    let case = case(algorithm)
        .operation(operation.parse().unwrap())
        .stack(stack.name())
        .parameters(OpenSslWay::File.parameters())
        .build();
    (stack.prepare(&case).unwrap(), stack)
}

fn result(
    handle: &mut dyn KeyHandle,
    workload: (&keymark_bench::workload::Input, usize),
) -> Vec<u8> {
    let mut output = vec![0; workload.1];
    handle.arm(workload.0).unwrap();
    let performed = handle.perform(workload.0, &mut output).unwrap();
    assert!(performed.cpu.is_some(), "the process was waited for");
    let length = handle.collect(performed, &mut output).unwrap();
    output.truncate(length);
    output
}

#[test]
fn results_pass_the_check_and_wrong_ones_do_not() {
    for (algorithm, operation) in [
        ("rsa2048", "sign"),
        ("rsa2048", "decrypt"),
        ("nistp384", "sign"),
        ("nistp256", "decrypt"),
        ("ed25519", "sign"),
        ("cv25519", "decrypt"),
    ] {
        let (mut workload, _stack) = workload(algorithm, operation);
        let capacity = workload.output_capacity;
        let inputs = Arc::clone(&workload.inputs);
        let handle = &mut workload.crew.handles()[0];
        let right = result(handle.as_mut(), (&inputs[0], capacity));
        let verdict = |input: usize, output: &[u8]| {
            let verdicts = workload.verifier.verify(&[Verifiable { input, output }]);
            verdicts.into_iter().collect::<Result<(), String>>()
        };
        let what = format!("{algorithm} {operation}");
        verdict(0, &right).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(verdict(1, &right).is_err(), "{what}: another input");
        let mut changed = right.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert!(verdict(0, &changed).is_err(), "{what}: changed");
        assert!(verdict(0, &[]).is_err(), "{what}: nothing");
    }
}

/// What a process before has left is not taken for a result.
#[test]
fn a_program_that_writes_nothing_has_failed() {
    let (mut workload, _stack) = workload("nistp256", "sign");
    let inputs = Arc::clone(&workload.inputs);
    let handle = &mut workload.crew.handles()[0];
    result(handle.as_mut(), (&inputs[0], 1024));
    handle.arm(&inputs[1]).unwrap();
    let mut output = [0; 1024];
    let nothing = keymark_bench::workload::Performed::default();
    let error = handle.collect(nothing, &mut output).unwrap_err();
    assert!(error.to_string().contains("No such file"), "{error}");
}

#[test]
fn a_program_that_is_something_else_is_missing() {
    let directory = tempfile::tempdir().unwrap();
    let find = |directory: &Path| OpenSsl::find(Some(directory)).unwrap_err().to_string();
    write_script(&directory.path().join("openssl"), "echo LibreSSL 3.8.2");
    let error = find(directory.path());
    assert!(error.contains("says 'LibreSSL 3.8.2'"), "{error}");
}
