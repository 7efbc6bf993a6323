//! JUnit's XML, as CI servers read it: a test case is a case, its time the mean of an operation in seconds.

use std::fmt::Write;

use super::Measured;
use crate::units;
use crate::visible::visible;

/// One suite; `of` is the run or series.
pub fn render(of: &str, cases: &[Measured]) -> String {
    let failures = cases.iter().filter(|case| case.failure.is_some()).count();
    let skipped = cases.iter().filter(|case| is_skipped(case)).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"",
        cases.len()
    );
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a string does not fail.
    let _ = writeln!(xml, "<testsuites name=\"keymark\" {counts}>");
    let _ = writeln!(xml, "  <testsuite name=\"{}\" {counts}>", escaped(of));
    for case in cases {
        self::case(&mut xml, case);
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

fn is_skipped(case: &Measured) -> bool {
    case.failure.is_none() && case.mean.is_none()
}

fn case(xml: &mut String, measured: &Measured) {
    let case = &measured.case;
    let name = format!("{} {} {}", case.algorithm, case.operation, case.way());
    let class = format!("keymark.{}.{}", case.provenance, case.device);
    let time = measured.mean.map_or(0.0, |mean| mean.value.0);
    let _ = writeln!(
        xml,
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{time:.9}\">",
        escaped(&class),
        escaped(&name)
    );
    if let Some(reason) = &measured.failure {
        let _ = writeln!(
            xml,
            "      <failure message=\"{}\" type=\"keymark\"/>",
            escaped(reason)
        );
    } else if is_skipped(measured) {
        xml.push_str("      <skipped message=\"not measured\"/>\n");
    }
    if let Some(mean) = &measured.mean {
        let said = format!(
            "mean {}, {}",
            units::estimated_duration(mean),
            match measured.operations {
                Some(operations) => format!("{operations} operations"),
                None => format!("{} runs", measured.runs),
            }
        );
        let _ = writeln!(xml, "      <system-out>{}</system-out>", escaped(&said));
    }
    xml.push_str("    </testcase>\n");
}

/// Characters that XML 1.0 cannot have at all (§2.2) are written out; U+FFFE and U+FFFF are left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c => out.push(c),
        }
    }
    out
}
