//! What every form passes in which runs are written, whatever the form.

use keymark_bench::case::{Case, DeviceName, StackName};
use keymark_bench::record::{CaseRecord, Record, RunId};
use keymark_report::analysis::Analysis;
use keymark_report::formats::FORMATS;
use keymark_report::render::{Exported, Format};
use keymark_report::report::{Part, report};
use keymark_testkit::layers::layers;
use keymark_testkit::record::{case, failed, measured, mixed, of};

/// Clears the screen, turns the direction, ends elements, attributes, lines and files.
const HOSTILE: &str =
    "=1+1\u{1b}[2J\u{9b}\u{202e}\u{200b}\"'\\\r\n# EOF\n</script></testcase><img src=x>";

fn hostile() -> Record {
    let on = |algorithm: &str| Case {
        device: DeviceName::new(HOSTILE),
        ..case(algorithm, StackName::RAW)
    };
    let failed = failed(on("rsa4096"), HOSTILE);
    let mut run = of(vec![measured(on("rsa2048"), 500.0), failed]);
    run.id = RunId(HOSTILE.to_owned());
    run.environment.cpu_model = Some(HOSTILE.to_owned());
    run
}

fn written(format: &Format, run: &Record) -> String {
    let part = || Part {
        record: run,
        document: Analysis::of(run, &layers()).document(run, &[]),
        rerun: None,
    };
    let exported = Exported::Runs {
        runs: std::slice::from_ref(run),
        families: &layers(),
        document: &|| report(vec![part()], None),
    };
    (format.write)(&exported).unwrap_or_else(|error| panic!("{}: {error}", format.word))
}

#[test]
fn nothing_from_outside_does_anything_in_any_form() {
    let run = hostile();
    for format in FORMATS {
        let text = written(format, &run);
        let acts = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{200b}');
        assert!(!text.contains(acts), "{}: {text:?}", format.word);
        let forged = text.lines().any(|line| line.starts_with("=1+1"));
        assert!(!forged, "{}: {text}", format.word);
    }
}

#[test]
fn every_run_has_every_form_and_each_time_the_same() {
    let nothing = of(Vec::new());
    let unmeasured = of(vec![CaseRecord::new(case("rsa2048", StackName::RAW))]);
    for run in [nothing, unmeasured, mixed("run"), hostile()] {
        for format in FORMATS {
            assert_eq!(
                written(format, &run),
                written(format, &run),
                "{}",
                format.word
            );
        }
    }
}
