//! Which case a ratio is taken to.

use keymark_bench::baseline::Baseline;
use keymark_bench::case::{Case, Parameters};

fn case(algorithm: &str, stack: &str, workers: u32) -> Case {
    keymark_testkit::case(algorithm)
        .stack(stack.parse().unwrap())
        .workers(workers)
        .build()
}

#[test]
fn the_default_is_rsa2048_of_the_same_stack_and_load() {
    let cases = [
        case("cv25519", "raw", 1),
        case("rsa2048", "raw", 1),
        case("rsa2048", "gpg", 1),
        case("cv25519", "gpg", 1),
        case("cv25519", "gpg", 4),
    ];
    let baseline = Baseline::default();
    assert_eq!(baseline.of(&cases[0], &cases), Some(1));
    assert_eq!(baseline.of(&cases[3], &cases), Some(2));
    assert_eq!(
        baseline.of(&cases[4], &cases),
        Some(4),
        "no rsa2048 at w=4: the first of its kind"
    );
}

#[test]
fn one_algorithm_is_compared_with_its_first_stack_and_one_stack_with_c_1() {
    let cases = [case("rsa2048", "raw", 1), case("rsa2048", "agent", 1)];
    assert_eq!(Baseline::default().of(&cases[1], &cases), Some(0));
    let cases = [case("rsa2048", "gpg", 1), case("rsa2048", "gpg", 4)];
    assert_eq!(Baseline::default().of(&cases[1], &cases), Some(0));
}

#[test]
fn libraries_are_compared_with_the_one_that_is_built_in() {
    let with_library = |algorithm| Case {
        parameters: Parameters::from([("library", "libgcrypt")]),
        ..case(algorithm, "raw", 1)
    };
    let cases = [case("rsa4096", "raw", 1), with_library("rsa4096")];
    assert_eq!(Baseline::default().of(&cases[1], &cases), Some(0));
    let cases = [
        case("rsa2048", "raw", 1),
        with_library("rsa2048"),
        with_library("rsa4096"),
    ];
    let of_its_own = Baseline::default().of(&cases[2], &cases);
    assert_eq!(of_its_own, Some(1), "rsa2048 of the same library");
}

#[test]
fn a_pattern_replaces_the_axes_it_names() {
    let cases = [
        case("rsa2048", "raw", 1),
        case("rsa4096", "raw", 1),
        case("rsa4096", "gpg", 4),
    ];
    let baseline: Baseline = "raw,w=1".parse().unwrap();
    assert_eq!(baseline.of(&cases[2], &cases), Some(1));
    assert_eq!(baseline.to_string(), "raw,w=1");
    assert_eq!(
        "rsa2048,device=x"
            .parse::<Baseline>()
            .unwrap()
            .of(&cases[1], &cases),
        None
    );
    assert!("rsa2047".parse::<Baseline>().is_err());
    assert!("w=0".parse::<Baseline>().is_err());
}

#[test]
fn what_several_stacks_distinguish_is_kept_when_the_stack_changes() {
    let cached = |stack| Case {
        parameters: Parameters::from([("protection", "cached")]),
        ..case("rsa2048", stack, 1)
    };
    let cases = [
        case("rsa2048", "raw", 1),
        case("rsa2048", "agent", 1),
        cached("agent"),
        case("rsa2048", "gpg", 1),
        cached("gpg"),
    ];
    let of = |baseline: &str, case: usize| {
        let baseline: Baseline = baseline.parse().unwrap();
        baseline.of(&cases[case], &cases)
    };
    let usual: Vec<_> = (0..5).map(|case| of("", case)).collect();
    assert_eq!(usual, [Some(0), Some(0), Some(2), Some(0), Some(2)]);
    assert_eq!(of("gpg", 2), Some(4));
    assert_eq!(of("agent,protection=usual", 4), Some(1));
    assert_eq!(of("protection=cached", 3), Some(4));
    assert_eq!(
        of("protection=cached", 0),
        Some(0),
        "raw has none to choose"
    );
    let text = "agent,protection=cached,w=1";
    assert_eq!(text.parse::<Baseline>().unwrap().to_string(), text);
}
