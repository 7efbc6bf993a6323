//! Programs of Stateless OpenPGP on GnuPG's keys and, for composites, on keys of their own.

use std::sync::Arc;

use keymark_bench::case::{Parameters, StackName};
use keymark_bench::operation::Operation;
use keymark_bench::workload::Stack;
use keymark_stacks::sop::{FAMILY, SopProgram};
use keymark_stores::device::Run;
use keymark_stores::store::KeyStore;
use keymark_testkit::case;

use crate::suite::{keys, stack_passes};

fn stack() -> Box<dyn Stack> {
    let open = (FAMILY.look.unwrap())().open(&Run::new(1)).unwrap();
    open(StackName::of("sop"), keys() as Arc<dyn KeyStore>)
}

fn failures(program: SopProgram, cases: &[(&str, Operation)]) -> Vec<String> {
    let stack = stack();
    let failure = |(algorithm, operation): &(&str, Operation)| {
        let case = case(algorithm)
            .operation(*operation)
            .stack(StackName::of("sop"))
            .parameters(Parameters::from([("program", program.word())]))
            .build();
        stack_passes(stack.as_ref(), &case).err()
    };
    cases.iter().filter_map(failure).collect()
}

const COMMON: [(&str, Operation); 4] = [
    ("ed25519", Operation::Sign),
    ("cv25519", Operation::Decrypt),
    ("nistp256", Operation::Decrypt),
    ("rsa2048", Operation::Sign),
];

#[test]
fn results_of_packaged_programs_pass_the_check_and_wrong_ones_do_not() {
    for program in [SopProgram::Sqop, SopProgram::Gosop] {
        assert_eq!(failures(program, &COMMON), [""; 0], "{program}");
    }
}
