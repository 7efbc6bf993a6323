//! The program `openssl` with keys in files: its results pass the check, and what it did not write does not.

use std::sync::Arc;

use keymark_bench::case::StackName;
use keymark_bench::operation::Operation;
use keymark_stacks::openssl::{FAMILY, OpenSslWay};
use keymark_stores::device::Run;
use keymark_stores::store::KeyStore;
use keymark_testkit::assert_says;
use keymark_testkit::case;

use crate::suite::{passes, perform};

/// What a process before has left is not taken for a result.
#[test]
fn a_program_that_writes_nothing_has_failed() {
    let (run, name) = (Run::new(1), StackName::of("openssl"));
    let open = (FAMILY.look.unwrap())().open(&run).unwrap();
    let stack = open(name, Arc::clone(&run.test_keys) as Arc<dyn KeyStore>);
    let case = case("nistp256").operation(Operation::Sign).stack(name);
    let case = case.parameters(OpenSslWay::File.parameters()).build();
    let mut workload = stack.prepare(&case).unwrap();
    passes(&mut workload).unwrap();
    let inputs = Arc::clone(&workload.inputs);
    let handle = &mut workload.crew.handles()[0];
    perform(handle.as_mut(), &inputs[0], 1024).unwrap();
    handle.arm(&inputs[1]).unwrap();
    let mut output = [0; 1024];
    let nothing = keymark_bench::workload::Performed::default();
    let error = handle.collect(nothing, &mut output).unwrap_err();
    assert_says(&error, ["No such file"]);
}
