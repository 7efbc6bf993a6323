//! Pictures of records, into files and on the terminal.

use std::fmt::Display;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};

use keymark_bench::Record;
use keymark_report::Beside;
use keymark_report::analysis::Analysis;
use keymark_report::charts::terminal::{self, Signs};
use keymark_report::charts::{Chart, Theme, svg};
use keymark_report::pictures::{self, AnalyzedRun, NOT_ENOUGH, PictureKind};
use keymark_report::render::Width;
use keymark_report::verdict::Verdict;
use keymark_stores::places::program;

use crate::args::{PictureFile, PictureFormat};
use crate::exit::Failure;
use crate::{file, output};

/// Columns of a picture where nobody says how wide the terminal is.
const COLUMNS: usize = 100;

/// Fewest columns of a picture on a terminal.
const ENOUGH: usize = 72;
/// More lines than these leave a screen no room for anything else.
const LINES: usize = 16;

/// Draws the pictures of that kind, or of the kind that fits the verdict.
pub(crate) fn charts(
    records: &mut [Record],
    wanted: Option<PictureKind>,
) -> Result<Vec<Chart>, Failure> {
    pictures::distinguish(records);
    let analyses: Vec<Analysis> = records.iter().map(super::analysis).collect();
    let runs = records.iter().zip(&analyses);
    let runs: Vec<AnalyzedRun<'_>> = runs
        .map(|(record, analysis)| AnalyzedRun { record, analysis })
        .collect();
    let verdicts = runs.iter().map(|run| Verdict::of(run.analysis, run.record));
    let verdicts: Vec<Verdict> = verdicts.collect();
    let verdicts: Vec<&Verdict> = verdicts.iter().collect();
    let kind = wanted.or_else(|| pictures::default_kind(&verdicts, &runs));
    let none = || Failure::nothing_usable(format!("{NOT_ENOUGH}: no case has a figure"));
    let kind = kind.ok_or_else(none)?;
    let charts = pictures::charts(&runs, kind);
    if charts.is_empty() {
        return Err(Failure::nothing_usable(without(&runs, kind)));
    }
    Ok(charts)
}

/// Names the kinds that there are instead.
fn without(runs: &[AnalyzedRun<'_>], kind: PictureKind) -> String {
    let others = PictureKind::ALL
        .iter()
        .filter(|kind| !pictures::charts(runs, **kind).is_empty());
    let others: Vec<&str> = others.map(|kind| kind.word()).collect();
    let instead = if others.is_empty() {
        String::new()
    } else {
        format!("\n  available kinds: {}", others.join(", "))
    };
    format!(
        "{NOT_ENOUGH} of the kind '{kind}' ({}){instead}",
        kind.about()
    )
}

/// Each into a file; the second and what follows have a number in their name.
pub(crate) fn write(charts: &[Chart], file: &PictureFile, theme: Theme) -> Result<(), Failure> {
    for (number, chart) in (1..).zip(charts) {
        let path = numbered(&file.path, number);
        let bytes = bytes(chart, file.format, theme)?;
        let (written, path) = (file::replace(&path, &bytes), path.display());
        written.map_err(|error| format!("cannot write the picture to {path}: {error}"))?;
        output::line(&format!("{path}: {}", chart.title));
    }
    Ok(())
}

/// Returns the content of a picture's file.
pub(crate) fn bytes(
    chart: &Chart,
    format: PictureFormat,
    theme: Theme,
) -> Result<Vec<u8>, Failure> {
    let drawn = svg::draw(chart, theme);
    match format {
        PictureFormat::Svg => Ok(drawn.into_bytes()),
        PictureFormat::Png => png(&drawn),
    }
}

/// Converts an SVG to PNG of twice its size with `rsvg-convert`.
fn png(svg: &str) -> Result<Vec<u8>, Failure> {
    let advice = "Install the package librsvg2-bin, or write an .svg file";
    let Some(path) = program::locate(None, "rsvg-convert") else {
        return Err(Failure::nothing_usable(format!(
            "rsvg-convert, which makes PNG files, is not installed. {advice}"
        )));
    };
    let failed =
        |error: &dyn Display| Failure::failed(format!("rsvg-convert failed: {error}. {advice}"));
    let mut input = tempfile::tempfile()?;
    input.write_all(svg.as_bytes())?;
    input.rewind()?;
    let mut convert = program::command(&path);
    convert
        .args(["--format", "png", "--zoom", "2"])
        .stdin(input);
    let output = program::run(&mut convert, program::QUESTION);
    let output = output.map_err(|error| failed(&error))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(failed(&String::from_utf8_lossy(&output.stderr).trim()))
    }
}

/// `file.svg`, `file-2.svg`
fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let (stem, ending) = (path.file_stem(), path.extension());
    let [stem, ending] = [stem, ending].map(|part| part.unwrap_or_default().to_string_lossy());
    path.with_file_name(format!("{stem}-{number}.{ending}"))
}

/// Draws pictures on the terminal.
pub(crate) fn print(records: &mut [Record], kind: Option<PictureKind>) -> Result<(), Failure> {
    let (columns, signs) = (columns(), signs(|name| std::env::var(name).ok()));
    for chart in charts(records, kind)? {
        output::print(&format!("\n{}", terminal::draw(&chart, signs, columns)));
    }
    Ok(())
}

/// Returns the picture below a run's verdict: bars of parts, also in a pipe; others only on a terminal with room for them
/// and the tables.
pub(crate) fn below_the_verdict(analysis: &Analysis, record: &Record) -> Option<(Beside, String)> {
    let chart = analysis.picture(record)?;
    let (beside, columns) = match chart.kind == PictureKind::Layers.word() {
        true => (Beside::Picture, Some(columns())),
        false => (Beside::Nothing, output::looked_at()),
    };
    let columns = columns.filter(|columns| *columns >= ENOUGH)?;
    let signs = signs(|name| std::env::var(name).ok());
    let drawn = terminal::draw(&chart, signs, columns);
    (drawn.lines().count() <= LINES).then_some((beside, drawn))
}

fn columns() -> usize {
    match output::room() {
        Width::Columns(columns) => usize::from(columns),
        Width::Unlimited => COLUMNS,
    }
}

/// Unicode, unless the locale has none (POSIX: the first of these that says anything) or `NO_COLOR` asks for plain output.
fn signs(variable: impl Fn(&str) -> Option<String>) -> Signs {
    let said = |name: &&str| variable(name).filter(|value| !value.is_empty());
    let plain = said(&"NO_COLOR").is_some();
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(said);
    let unicode = locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    if unicode && !plain {
        Signs::Unicode
    } else {
        Signs::Ascii
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_follow_the_locale() {
        let with = |variables: &'static [(&str, &str)]| {
            signs(move |name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(with(&[("LANG", "de_DE.UTF-8")]), Signs::Unicode);
        assert_eq!(
            with(&[("LANG", "C.utf8"), ("NO_COLOR", "")]),
            Signs::Unicode
        );
        assert_eq!(with(&[("LANG", "C.UTF-8"), ("LC_ALL", "C")]), Signs::Ascii);
        assert_eq!(
            with(&[("LANG", "C.UTF-8"), ("NO_COLOR", "1")]),
            Signs::Ascii
        );
        assert_eq!(with(&[]), Signs::Ascii);
    }

    #[test]
    fn further_pictures_are_numbered() {
        let path = Path::new("out/run.svg");
        assert_eq!(numbered(path, 1), path);
        assert_eq!(numbered(path, 3), Path::new("out/run-3.svg"));
    }
}
