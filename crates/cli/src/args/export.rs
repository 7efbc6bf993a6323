//! The command line of what leaves the archive: files and their forms, shared runs, sites.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use itertools::Itertools;
use keymark_records::archive::{Identity, RunSelector};
use keymark_records::published::PublishedTable;
use keymark_report::charts::Theme;
use keymark_report::formats::FORMATS;
use keymark_report::pictures::PictureKind;
use keymark_report::render::Format;

use super::one_of;

/// `keymark export`
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Runs: last, last~1, an id or its beginning; or series: and one of these. A page compares the first with each of
    /// the others
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<RunSelector>,
    /// The file to write, in the form of its ending: .html, .md, .csv, .json, .xml (JUnit), .prom, .svg or .png.
    /// Further pictures are numbered
    #[arg(long, short, value_name = "FILE", value_parser = ExportFile::parse, required_unless_present = "format")]
    pub output: Option<ExportFile>,
    /// Form [default: by the ending of the file]
    #[arg(long, value_name = "FORMAT", value_parser = forms())]
    pub format: Option<ExportForm>,
    /// Show these published figures next to the first run's: lwn-2017, zeitgitter-2019, …
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = PublishedTable::named)]
    pub published: Vec<PublishedTable>,
    /// Overwrite a page that keymark did not write
    #[arg(long)]
    pub force: bool,
    /// Kind of picture [default: the one that fits the run]
    #[arg(long, value_name = "KIND", value_parser = kinds(), help_heading = "Pictures")]
    pub picture: Option<PictureKind>,
    /// Draw only cases with all of these words in their name, such as 'rsa2048 gpg'
    #[arg(long, value_name = "WORDS", help_heading = "Pictures")]
    pub case: Option<String>,
    /// Background
    #[arg(long, default_value = "light", value_parser = theme(), help_heading = "Pictures")]
    pub theme: Theme,
}

/// Form of a written run.
#[derive(Debug, Clone, Copy)]
pub enum ExportForm {
    /// Text about runs, or their records.
    Document(&'static Format),
    /// A picture.
    Picture(PictureFormat),
}

/// Format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    /// Lines and text.
    Svg,
    /// Pixels.
    Png,
}

const PICTURES: [(PictureFormat, &str, &str); 2] = [
    (PictureFormat::Svg, "svg", "A picture"),
    (PictureFormat::Png, "png", "A picture, by rsvg-convert"),
];

impl ExportForm {
    /// Returns the form of files with that ending.
    fn of_ending(ending: &str) -> Option<Self> {
        let picture = PICTURES.iter().find(|(_, word, _)| *word == ending);
        picture
            .map(|(format, ..)| Self::Picture(*format))
            .or_else(|| {
                let format = FORMATS
                    .iter()
                    .find(|format| format.endings.contains(&ending))?;
                Some(Self::Document(format))
            })
    }
}

/// A file for a run; the ending is that of a form.
#[derive(Debug, Clone)]
pub struct ExportFile {
    pub path: PathBuf,
    pub form: ExportForm,
}

impl ExportFile {
    /// Parses a file's name; an unknown ending is refused.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        match ExportForm::of_ending(&ending.to_lowercase()) {
            Some(form) => Ok(Self { path, form }),
            None => {
                let endings = FORMATS.iter().flat_map(|format| format.endings);
                let pictures = PICTURES.iter().map(|(_, word, _)| word);
                let known = endings
                    .chain(pictures)
                    .format_with(", ", |ending, f| f(&format_args!(".{ending}")));
                Err(format!("'{text}' must end in one of {known}"))
            }
        }
    }
}

/// A file for a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureFile {
    pub path: PathBuf,
    pub format: PictureFormat,
}

impl PictureFile {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match ExportFile::parse(text) {
            Ok(ExportFile {
                path,
                form: ExportForm::Picture(format),
            }) => Ok(Self { path, format }),
            _ => Err(format!("'{text}' must end in .svg or .png")),
        }
    }
}

/// Kinds of pictures with descriptions.
pub(super) fn kinds() -> impl TypedValueParser<Value = PictureKind> {
    let kinds = PictureKind::ALL.iter();
    one_of(kinds.map(|kind| (*kind, kind.word(), kind.about())))
}

fn theme() -> impl TypedValueParser<Value = Theme> {
    one_of([
        (Theme::Light, "light", "Dark on light"),
        (Theme::Dark, "dark", "Light on dark"),
    ])
}

fn forms() -> impl TypedValueParser<Value = ExportForm> {
    let documents = FORMATS
        .iter()
        .map(|format| (ExportForm::Document(format), format.word, format.about));
    let pictures = PICTURES.map(|(format, word, about)| (ExportForm::Picture(format), word, about));
    one_of(documents.chain(pictures))
}

/// `keymark share`
#[derive(Debug, Args)]
pub struct ShareArguments {
    /// Run: last, last~1, an id or its beginning
    #[arg(value_name = "RUN")]
    pub run: RunSelector,
    /// The file to write; it must not exist
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
    /// Remove this text, such as a name that only you know
    #[arg(long, value_name = "TEXT")]
    pub remove: Vec<String>,
    /// Write without asking, for scripts
    #[arg(long)]
    pub yes: bool,
}

/// Identity that a team's archive is sent.
#[derive(Debug, Clone, Args)]
pub struct IdentityArguments {
    /// Send a team's archive serial numbers, and names of machines and people; its owner and you can read them
    #[arg(long, help_heading = "Output")]
    identify: bool,
}

impl IdentityArguments {
    /// Nothing, unless the user wants it.
    pub const fn wanted(&self) -> Identity {
        if self.identify {
            Identity::Kept
        } else {
            Identity::Hidden
        }
    }
}

/// `keymark import`
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// A CSV table of published figures, a record of another machine, or another archive: a file, postgresql://… or
    /// service=…
    #[arg(value_name = "SOURCE")]
    pub source: PathBuf,
    /// Identity that a team's archive is sent
    #[command(flatten)]
    pub identity: IdentityArguments,
}

/// `keymark site`
#[derive(Debug, Args)]
pub struct SiteArguments {
    /// The folder of contributed records: files of 'keymark share', or others that 'keymark import' reads
    #[arg(value_name = "DIR")]
    pub records: PathBuf,
    /// Directory for the site: a new one, an empty one, or an earlier site
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Add pages of devices with published figures only
    #[arg(long)]
    pub all_published: bool,
}
