//! The program `openssl` with keys in files: its results pass the check, and wrong ones do not.

use std::sync::Arc;

use keymark_bench::case::StackName;
use keymark_bench::workload::{Stack, Workload};
use keymark_stacks::openssl::{FAMILY, OpenSslWay};
use keymark_stores::device::Run;
use keymark_testkit::assert_says;
use keymark_testkit::case;

use crate::suite::{passes, perform};

fn workload(algorithm: &str, operation: &str) -> (Workload, Box<dyn Stack>) {
    let run = Run::new(1);
    let name = StackName::of("openssl");
    let store = Arc::clone(&run.test_keys) as Arc<dyn keymark_stores::store::KeyStore>;
    let open = (FAMILY.look.unwrap())().open(&run).unwrap();
    let stack = open(name, store);
    let case = case(algorithm)
        .operation(operation.parse().unwrap())
        .stack(name)
        .parameters(OpenSslWay::File.parameters())
        .build();
    (stack.prepare(&case).unwrap(), stack)
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
        passes(&mut workload).unwrap_or_else(|error| panic!("{algorithm} {operation}: {error}"));
        let (handle, input) = (&mut workload.crew.handles()[0], &workload.inputs[0]);
        handle.arm(input).unwrap();
        let performed = handle.perform(input, &mut [0; 1024]).unwrap();
        assert!(performed.cpu.is_some(), "the process was waited for");
    }
}

/// What a process before has left is not taken for a result.
#[test]
fn a_program_that_writes_nothing_has_failed() {
    let (mut workload, _stack) = workload("nistp256", "sign");
    let inputs = Arc::clone(&workload.inputs);
    let handle = &mut workload.crew.handles()[0];
    perform(handle.as_mut(), &inputs[0], 1024).unwrap();
    handle.arm(&inputs[1]).unwrap();
    let mut output = [0; 1024];
    let nothing = keymark_bench::workload::Performed::default();
    let error = handle.collect(nothing, &mut output).unwrap_err();
    assert_says(&error, ["No such file"]);
}
