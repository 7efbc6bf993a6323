//! JUnit's XML, as CI servers read it: a test case is a case, its time the mean of an operation in seconds.

use super::measured::{Measured, measured};
use crate::render::Format;
use crate::units;
use crate::visible::visible;
use crate::xml::{Tag, Xml};

pub(super) static FORMAT: Format = Format {
    word: "junit",
    about: "JUnit's XML: one test case for each case, its time the mean in seconds",
    endings: &[],
    write: |exported, out| {
        Ok(out.write_all(render(&exported.name(), &measured(exported)).as_bytes())?)
    },
};

/// One suite; `of` is the run or series.
pub(super) fn render(of: &str, cases: &[Measured]) -> String {
    let failures = cases.iter().filter(|case| case.failure.is_some()).count();
    let skipped = cases.iter().filter(|case| is_skipped(case)).count();
    let open = |tag: Tag<'_>| {
        tag.attr("tests", &cases.len().to_string())
            .attr("failures", &failures.to_string())
            .attr("errors", "0")
            .attr("skipped", &skipped.to_string())
            .open();
    };
    let mut xml = Xml::default();
    open(xml.tag("testsuites").attr("name", "keymark"));
    open(xml.tag("testsuite").attr("name", &visible(of)));
    for case in cases {
        self::case(&mut xml, case);
    }
    xml.close("testsuite");
    xml.close("testsuites");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}",
        xml.into_text()
    )
}

fn is_skipped(case: &Measured) -> bool {
    case.failure.is_none() && case.mean.is_none()
}

fn case(xml: &mut Xml, measured: &Measured) {
    let case = &measured.case;
    let name = format!("{} {} {}", case.algorithm, case.operation, case.way());
    let class = format!("keymark.{}.{}", case.provenance, case.device);
    let time = measured.mean.map_or(0.0, |mean| mean.value.0);
    xml.tag("testcase")
        .attr("classname", &visible(&class))
        .attr("name", &visible(&name))
        .attr("time", &format!("{time:.9}"))
        .open();
    if let Some(reason) = &measured.failure {
        let failure = xml.tag("failure").attr("message", &visible(reason));
        failure.attr("type", "keymark").end();
    } else if is_skipped(measured) {
        xml.tag("skipped").attr("message", "not measured").end();
    }
    if let Some(mean) = &measured.mean {
        let behind = match measured.operations {
            Some(operations) => format!("{operations} operations"),
            None => format!("{} runs", measured.runs),
        };
        let said = format!("mean {}, {behind}", units::estimated_duration(mean));
        xml.tag("system-out").text(&said);
    }
    xml.close("testcase");
}
