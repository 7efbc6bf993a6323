//! The command line of what is written of runs, and the forms of files by the words for them.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use keymark_records::archive::RunSelector;
use keymark_records::published::PublishedTable;
use keymark_report::formats::FORMATS;
use keymark_report::render::{Format, html};

use super::one_of;

/// `keymark export`
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Run: last, last~1, an id or its beginning; or series: and one of these
    #[arg(value_name = "RUN")]
    pub run: RunSelector,
    /// Format
    #[arg(long, value_parser = exported())]
    pub format: &'static Format,
}

/// `keymark report`
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Runs: last, last~1, an id or its beginning; the first is compared with each of the others
    #[arg(value_name = "RUN", default_value = "last", num_args = 1..)]
    pub runs: Vec<RunSelector>,
    /// The file to write, or - for stdout [default: for HTML reports/RUN.html beside the archive, else stdout]
    #[arg(short, long, value_name = "FILE", value_parser = report_file)]
    pub output: Option<ReportFile>,
    /// Show these published figures beside the first run's: lwn-2017, zeitgitter-2019, …
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = PublishedTable::named)]
    pub published: Vec<PublishedTable>,
    /// Format [default: by the file's name, else html]
    #[arg(long, value_parser = reported())]
    pub format: Option<&'static Format>,
    /// Overwrite a file that keymark did not write
    #[arg(long)]
    pub force: bool,
}

impl ReportArguments {
    /// Returns the chosen format, or the one of the file's name.
    pub fn format(&self) -> &'static Format {
        let named = self.output.as_ref().and_then(|file| file.format);
        self.format.or(named).unwrap_or(&html::FORMAT)
    }
}

/// A file for a report.
#[derive(Debug, Clone)]
pub struct ReportFile {
    pub path: PathBuf,
    /// Format of the file name's ending.
    format: Option<&'static Format>,
}

/// Refuses an ending that no form has.
fn report_file(text: &str) -> Result<ReportFile, String> {
    let path = PathBuf::from(text);
    let Some(ending) = path.extension() else {
        return Ok(ReportFile { path, format: None });
    };
    let ending = ending.to_string_lossy().to_lowercase();
    match FORMATS
        .iter()
        .find(|format| format.endings.contains(&&*ending))
    {
        Some(format) => Ok(ReportFile {
            path,
            format: Some(format),
        }),
        None => {
            let endings = FORMATS.iter().flat_map(|format| format.endings);
            let endings: Vec<String> = endings.map(|ending| format!(".{ending}")).collect();
            Err(format!(
                "'{text}' must end in one of {}",
                endings.join(", ")
            ))
        }
    }
}

fn exported() -> impl TypedValueParser<Value = &'static Format> {
    let all = FORMATS.iter().copied();
    one_of(all.map(|format| (format, format.word, format.about)))
}

/// Parses a format by the ending of its files.
fn reported() -> impl TypedValueParser<Value = &'static Format> {
    let all = FORMATS.iter().copied();
    one_of(all.filter_map(|format| Some((format, *format.endings.last()?, format.about))))
}
