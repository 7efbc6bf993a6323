//! The figures as a page of the documentation, in sections that are measured apart.

use std::path::Path;

use super::figure::{Failure, Figure};
use super::setting::Setting;

/// A part of the page, with the command that measures it again.
#[derive(Debug)]
pub(crate) struct Section {
    heading: &'static str,
    command: &'static str,
    says: &'static str,
}

pub(crate) const OVERHEAD: Section = Section {
    heading: "What keymark claims about itself",
    command: "make overhead",
    says: "It measures every figure again and fails if one misses its limit.",
};

pub(crate) const CALIBRATION: Section = Section {
    heading: "Are intervals and alarms honest?",
    command: "make calibration",
    says: "It compares like with like: copies of a case within a plan, and a program with itself across runs.",
};

const TITLE: &str = "# Performance";

/// Puts a section in the place of what the page had of it; the other one stays.
pub(crate) fn write(
    file: &Path,
    section: &Section,
    figures: &[Figure],
    setting: &Setting,
) -> Result<(), Failure> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    let page = match std::fs::read_to_string(file) {
        Ok(page) => page,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error).into()),
    };
    let page = with(&page, section, figures, setting);
    Ok(std::fs::write(file, page).map_err(failed)?)
}

fn with(page: &str, section: &Section, figures: &[Figure], setting: &Setting) -> String {
    let sections = [&OVERHEAD, &CALIBRATION].map(|known| {
        if known.heading == section.heading {
            Some(of(section, figures, setting))
        } else {
            found(page, known)
        }
    });
    let mut parts = vec![format!("{TITLE}\n")];
    parts.extend(sections.into_iter().flatten());
    parts.join("\n")
}

/// A section as the page has it, to the next heading.
fn found(page: &str, section: &Section) -> Option<String> {
    let heading = format!("## {}\n", section.heading);
    let text = page.get(page.find(&heading)?..)?;
    let end = text.get(heading.len()..)?.find("\n## ");
    let end = end.map_or(text.len(), |end| heading.len() + end + 1);
    Some(format!("{}\n", text.get(..end)?.trim_end()))
}

fn of(section: &Section, figures: &[Figure], setting: &Setting) -> String {
    let missed = figures.iter().filter(|figure| !figure.is_kept()).count();
    let verdict = match missed {
        0 => format!("All {} limits are kept.", figures.len()),
        _ => format!("**{missed} of {} limits are missed.**", figures.len()),
    };
    let mut lines = vec![
        format!("## {}", section.heading),
        String::new(),
        format!("Written by `{}`. {}", section.command, section.says),
        verdict,
        String::new(),
        "| | |".to_owned(),
        "|---|---|".to_owned(),
    ];
    lines.extend(facts(setting).map(|(name, value)| row(&[name, &value])));
    lines.push(String::new());
    lines.push("| figure | measured | limit | |".to_owned());
    lines.push("|---|---:|---:|---|".to_owned());
    lines.extend(figures.iter().map(|figure| {
        let judgement = if figure.is_kept() {
            "kept"
        } else {
            "**missed**"
        };
        row(&[
            &figure.name,
            &figure.value_text(),
            &figure.limit_text(),
            judgement,
        ])
    }));
    lines.push(String::new());
    lines.join("\n")
}

/// Known facts about the machine.
fn facts(setting: &Setting) -> impl Iterator<Item = (&'static str, String)> {
    let environment = &setting.environment;
    let cores = format!("{} cores", environment.cores);
    let processor = match &environment.cpu_model {
        Some(model) => format!("{model}, {cores}"),
        None => cores,
    };
    let kernel = environment.kernel.as_ref();
    let programs: Vec<String> = environment
        .versions
        .iter()
        .map(|(name, version)| format!("{name} {version}"))
        .chain([format!("keymark {}", environment.keymark)])
        .collect();
    [
        ("date", Some(setting.date.clone())),
        ("processor", Some(processor)),
        ("virtual machine", environment.virtualization.clone()),
        ("system", environment.os.clone()),
        ("kernel", kernel.map(|kernel| format!("Linux {kernel}"))),
        ("versions", Some(programs.join(", "))),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
}

fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use keymark_bench::environment::Environment;

    use super::*;
    use crate::claims::figure::Limit;

    fn figure(name: &str, value: f64, limit: Limit) -> Figure {
        Figure::new(name, value, limit, " ms")
    }

    fn setting() -> Setting {
        Setting {
            date: "2026-11-21".to_owned(),
            environment: Environment {
                cpu_model: Some("A CPU".to_owned()),
                cores: 2,
                keymark: "0.1.0".to_owned(),
                versions: [("gnupg".to_owned(), "2.2.40".to_owned())].into(),
                ..Environment::default()
            },
        }
    }

    #[test]
    fn a_figure_has_a_row_with_its_limit_and_the_judgement() {
        let figures = [
            figure("start", 14.0, Limit::AtMost(100.0)),
            figure("speed a|b", 80.0, Limit::AtLeast(150.0)),
        ];
        let page = with("", &OVERHEAD, &figures, &setting());
        assert!(page.contains("| start | 14.0000 ms | ≤ 100 ms | kept |"));
        assert!(page.contains("| speed a\\|b | 80.0000 ms | ≥ 150 ms | **missed** |"));
        assert!(page.contains("**1 of 2 limits are missed.**"));
    }

    #[test]
    fn the_machine_is_named_as_far_as_it_is_known() {
        let figures = [figure("start", 14.0, Limit::AtMost(100.0))];
        let page = with("", &OVERHEAD, &figures, &setting());
        assert!(page.contains("All 1 limits are kept."));
        assert!(page.contains("| processor | A CPU, 2 cores |"));
        assert!(page.contains("| versions | gnupg 2.2.40, keymark 0.1.0 |"));
        assert!(!page.contains("| kernel |"));
    }

    #[test]
    fn a_section_takes_its_own_place_and_the_other_stays() {
        let of = |value| [figure("figure", value, Limit::AtMost(5.0))];
        let page = with("# Anything else\n", &CALIBRATION, &of(1.0), &setting());
        let page = with(&page, &OVERHEAD, &of(2.0), &setting());
        let page = with(&page, &CALIBRATION, &of(3.0), &setting());
        let values = ["| figure | 2.0000 ms", "| figure | 3.0000 ms"];
        let [claimed, calibrated] = values.map(|value| page.find(value).expect(value));
        assert!(
            claimed < calibrated && !page.contains("1.0000 ms"),
            "{page}"
        );
        assert_eq!(page.matches("\n## ").count(), 2, "{page}");
    }
}
