//! Which case a ratio is taken to.

use keymark_bench::baseline::Baseline;
use keymark_bench::case::{Case, Parameters};

fn case(algorithm: &str, stack: &str, workers: u32, parameters: &[(&str, &str)]) -> Case {
    let none = Parameters::NONE;
    let set = |set: Parameters, (name, word): &(&str, &str)| set.replaced(name, word);
    Case {
        parameters: parameters.iter().fold(none, set),
        ..keymark_testkit::case(algorithm)
            .stack(stack.parse().unwrap())
            .workers(workers)
            .build()
    }
}

/// Checks the places of the cases' baselines.
fn check(baseline: &str, cases: &[Case], expected: &[Option<usize>]) {
    let pattern: Baseline = baseline.parse().unwrap();
    let found: Vec<_> = cases.iter().map(|case| pattern.of(case, cases)).collect();
    assert_eq!(found, expected, "{baseline}");
    assert_eq!(pattern.to_string(), baseline);
}

#[test]
fn the_default_is_rsa2048_of_the_same_stack_load_and_library() {
    let all = [
        case("cv25519", "raw", 1, &[]),
        case("rsa2048", "raw", 1, &[]),
        case("rsa2048", "gpg", 1, &[]),
        case("cv25519", "gpg", 1, &[]),
        // No rsa2048 at w=4: the first of its kind.
        case("cv25519", "gpg", 4, &[]),
    ];
    check("", &all, &[Some(1), Some(1), Some(2), Some(2), Some(4)]);
    // One algorithm with its first stack, one stack with one worker, and a library with the one that is built in.
    let libgcrypt = [("library", "libgcrypt")];
    for (other, first) in [
        (case("rsa2048", "agent", 1, &[]), "raw"),
        (case("rsa2048", "gpg", 4, &[]), "gpg"),
        (case("rsa2048", "raw", 1, &libgcrypt), "raw"),
    ] {
        let first = case("rsa2048", first, 1, &[]);
        check("", &[first, other], &[Some(0), Some(0)]);
    }
    let libraries = [
        case("rsa2048", "raw", 1, &[]),
        case("rsa2048", "raw", 1, &libgcrypt),
        case("rsa4096", "raw", 1, &libgcrypt),
    ];
    check("", &libraries, &[Some(0), Some(1), Some(1)]);
}

#[test]
fn a_pattern_replaces_the_axes_it_names() {
    let cases = [
        case("rsa2048", "raw", 1, &[]),
        case("rsa4096", "raw", 1, &[]),
        case("rsa4096", "gpg", 4, &[]),
    ];
    check("raw,w=1", &cases, &[Some(0), Some(1), Some(1)]);
    check("rsa2048,device=x", &cases, &[None; 3]);
    assert!("rsa2047".parse::<Baseline>().is_err());
    assert!("w=0".parse::<Baseline>().is_err());
}

#[test]
fn what_several_stacks_distinguish_is_kept_when_the_stack_changes() {
    let cached = [("protection", "cached")];
    let cases = [
        case("rsa2048", "raw", 1, &[]),
        case("rsa2048", "agent", 1, &[]),
        case("rsa2048", "agent", 1, &cached),
        case("rsa2048", "gpg", 1, &[]),
        case("rsa2048", "gpg", 1, &cached),
    ];
    check("", &cases, &[Some(0), Some(0), Some(2), Some(0), Some(2)]);
    check(
        "gpg",
        &cases,
        &[Some(3), Some(3), Some(4), Some(3), Some(4)],
    );
    // raw has none to choose.
    let both = [Some(0), Some(2), Some(2), Some(4), Some(4)];
    check("protection=cached", &cases, &both);
    check("agent,protection=usual,w=1", &cases, &[Some(1); 5]);
}
