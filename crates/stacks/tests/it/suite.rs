//! What every stack must pass: its workers' results are right, and what is wrong is not taken for right.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use keymark_bench::case::Case;
use keymark_bench::workload::{Input, KeyHandle, Stack, Verifiable, Workload};
use keymark_stacks::gnupg::Gnupg;
use keymark_stores::software::SoftwareStore;
use keymark_testkit::process::gnupg_with;

/// Test keys, one of a kind for all tests: some take seconds to make.
pub fn keys() -> Arc<SoftwareStore> {
    static KEYS: LazyLock<Arc<SoftwareStore>> = LazyLock::new(Arc::default);
    Arc::clone(&KEYS)
}

/// The installed GnuPG, with a gpg in front of which lines of shell decide first.
pub fn gpg_with(directory: &Path, lines: &str) -> Gnupg {
    gnupg_with(directory, lines);
    Gnupg::find(Some(directory)).unwrap()
}

/// One operation, as the runner does it.
pub fn perform(
    handle: &mut dyn KeyHandle,
    input: &Input,
    capacity: usize,
) -> Result<Vec<u8>, String> {
    let mut output = vec![0; capacity];
    let length = handle
        .arm(input)
        .and_then(|()| handle.perform(input, &mut output))
        .and_then(|performed| handle.collect(performed, &mut output));
    output.truncate(length.map_err(|error| error.to_string())?);
    Ok(output)
}

/// What the first worker makes of an input.
pub fn performed(workload: &mut Workload, input: usize) -> Result<Vec<u8>, String> {
    let handle = &mut workload.crew.handles()[0];
    let capacity = workload.output_capacity;
    perform(handle.as_mut(), &workload.inputs[input], capacity)
}

/// All workers at once, each with every input: inputs and results.
fn outputs(workload: &mut Workload) -> Result<Vec<(usize, Vec<u8>)>, String> {
    let (inputs, capacity) = (&workload.inputs, workload.output_capacity);
    let work = |handle: &mut Box<dyn KeyHandle>| -> Result<Vec<_>, String> {
        let each = inputs.iter().enumerate();
        each.map(|(index, input)| Ok((index, perform(handle.as_mut(), input, capacity)?)))
            .collect()
    };
    std::thread::scope(|scope| {
        let handles = workload.crew.handles().iter_mut();
        let workers: Vec<_> = handles.map(|handle| scope.spawn(|| work(handle))).collect();
        let done = workers.into_iter().map(|worker| worker.join().unwrap());
        Ok(done.collect::<Result<Vec<_>, String>>()?.concat())
    })
}

/// The verdicts on results of an input each.
pub fn verdicts(workload: &Workload, results: &[(usize, Vec<u8>)]) -> Vec<Result<(), String>> {
    let results: Vec<_> = results
        .iter()
        .map(|(input, output)| Verifiable {
            input: *input,
            output,
        })
        .collect();
    let verdicts = workload.verifier.verify(&results);
    assert_eq!(verdicts.len(), results.len());
    verdicts
}

/// The verdict on one.
pub fn verdict(workload: &Workload, input: usize, output: &[u8]) -> Result<(), String> {
    let verdicts = workload.verifier.verify(&[Verifiable { input, output }]);
    verdicts.into_iter().collect()
}

/// Every result is right.
pub fn exercise(workload: &mut Workload) -> Result<(), String> {
    let outputs = outputs(workload)?;
    assert_eq!(outputs.len(), workload.crew.size() * workload.inputs.len());
    verdicts(workload, &outputs).into_iter().collect()
}

/// Every result is right, and none of another input, cut in half, changed, or made up.
pub fn passes(workload: &mut Workload) -> Result<(), String> {
    exercise(workload)?;
    let right = performed(workload, 0)?;
    verdict(workload, 0, &right)?;
    let mut changed = right.clone();
    *changed.last_mut().unwrap() ^= 1;
    let wrong: [(&str, usize, &[u8]); 5] = [
        ("another input's", 1, &right),
        ("a halved", 0, &right[..right.len() / 2]),
        ("a changed", 0, &changed),
        ("no", 0, &[]),
        ("a made-up", 0, &[0x5A; 64]),
    ];
    for (which, input, output) in wrong {
        if verdict(workload, input, output).is_ok() {
            return Err(format!("{which} result passed for a right one"));
        }
    }
    Ok(())
}

/// The same of a case, which is named with what is wrong.
pub fn stack_passes(stack: &dyn Stack, case: &Case) -> Result<(), String> {
    let prepared = stack.prepare(case).map_err(|error| error.to_string());
    let passed = prepared.and_then(|mut workload| {
        assert_eq!(workload.crew.size(), case.workers() as usize, "{case}");
        passes(&mut workload)
    });
    passed.map_err(|reason| format!("{case}: {reason}"))
}
