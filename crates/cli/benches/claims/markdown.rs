//! The figures as a page of the documentation, with the machine and the build that they are of.

use std::path::Path;

use keymark_bench::environment::Environment;
use keymark_stacks::gnupg::Gnupg;

use super::figure::{Failure, Figure};
use super::program;

/// A page, with the command that measures it again.
#[derive(Debug)]
pub(crate) struct Page {
    heading: &'static str,
    command: &'static str,
    says: &'static str,
}

pub(crate) const OVERHEAD: Page = Page {
    heading: "What keymark claims about itself",
    command: "make overhead",
    says: "It measures every figure again and fails if one misses its limit.",
};

pub(crate) const CALIBRATION: Page = Page {
    heading: "Are intervals and alarms honest?",
    command: "make calibration",
    says: "It compares like with like: copies of a case within a plan, and a program with itself across runs.",
};

/// Writes the page of these figures, of today and of this machine.
pub(crate) fn write(file: &Path, page: &Page, figures: &[Figure]) -> Result<(), Failure> {
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let text = text(page, figures, date, &environment()?);
    std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()).into())
}

/// This machine, and the versions of its programs.
fn environment() -> Result<Environment, Failure> {
    let mut environment = Environment::capture(&program::version()?);
    let gnupg = Gnupg::find(None)?;
    let libgcrypt = gnupg.libgcrypt.map(|version| ("libgcrypt", version));
    let openssl = openssl::version::version().trim_start_matches("OpenSSL ");
    let versions = [("gnupg", gnupg.version), ("openssl", openssl.to_owned())];
    environment.versions = versions
        .into_iter()
        .chain(libgcrypt)
        .map(|(name, version)| (name.to_owned(), version))
        .collect();
    Ok(environment)
}

fn text(page: &Page, figures: &[Figure], date: String, environment: &Environment) -> String {
    let missed = figures.iter().filter(|figure| !figure.is_kept()).count();
    let verdict = match missed {
        0 => format!("All {} limits are kept.", figures.len()),
        _ => format!("**{missed} of {} limits are missed.**", figures.len()),
    };
    let facts: String = facts(date, environment)
        .map(|(name, value)| row(&[name, &value]))
        .collect();
    let figure = |figure: &Figure| {
        let judgement = if figure.is_kept() {
            "kept"
        } else {
            "**missed**"
        };
        let (value, limit) = (figure.value_text(), figure.limit_text());
        row(&[&figure.name, &value, &limit, judgement])
    };
    let figures: String = figures.iter().map(figure).collect();
    format!(
        "# {}\n\nWritten by `{}`. {}\n{verdict}\n\n| | |\n|---|---|\n{facts}\n\
         | figure | measured | limit | |\n|---|---:|---:|---|\n{figures}",
        page.heading, page.command, page.says
    )
}

/// Known facts about the machine.
fn facts(date: String, environment: &Environment) -> impl Iterator<Item = (&'static str, String)> {
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
        ("date", Some(date)),
        ("processor", Some(processor)),
        ("virtual machine", environment.virtualization.clone()),
        ("system", environment.os.clone()),
        ("kernel", kernel.map(|kernel| format!("Linux {kernel}"))),
        ("versions", Some(programs.join(", "))),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
}

/// A line of a table.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::super::figure::Limit;
    use super::*;

    #[test]
    fn a_figure_has_its_limit_and_the_judgement_and_the_machine_is_named() {
        let figures = [
            Figure::new("start", 14.0, Limit::AtMost(100.0), " ms"),
            Figure::new("speed a|b", 80.0, Limit::AtLeast(150.0), " ms"),
        ];
        let environment = Environment {
            cpu_model: Some("A CPU".to_owned()),
            cores: 2,
            keymark: "0.1.0".to_owned(),
            versions: [("gnupg".to_owned(), "2.2.40".to_owned())].into(),
            ..Environment::default()
        };
        let page = text(&OVERHEAD, &figures, "2026-11-21".to_owned(), &environment);
        for line in [
            "| start | 14.0000 ms | ≤ 100 ms | kept |",
            "| speed a\\|b | 80.0000 ms | ≥ 150 ms | **missed** |",
            "**1 of 2 limits are missed.**",
            "| processor | A CPU, 2 cores |",
            "| versions | gnupg 2.2.40, keymark 0.1.0 |",
        ] {
            assert!(page.lines().any(|known| known == line), "{line}: {page}");
        }
        assert!(!page.contains("| kernel |"));
    }
}
