//! The command line of pictures.

use std::path::PathBuf;

use clap::Args;
use clap::builder::TypedValueParser;
use keymark_records::archive::RunSelector;
use keymark_records::published::PublishedTable;
use keymark_report::charts::Theme;
use keymark_report::pictures::PictureKind;

/// `keymark plot`
#[derive(Debug, Args)]
pub struct PlotArguments {
    /// Runs in one picture: last, last~1, an id or its beginning; or series: and one of these
    #[arg(value_name = "RUN", default_value = "last")]
    pub runs: Vec<RunSelector>,

    /// Kind of picture [default: the one that fits the run]
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    pub kind: Option<PictureKind>,

    /// Draw only cases with all of these words in their name, such as 'rsa2048 gnupg'
    #[arg(long, value_name = "WORDS")]
    pub case: Option<String>,

    /// Draw these published figures with the run's: lwn-2017, zeitgitter-2019, …
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = PublishedTable::named)]
    pub published: Vec<PublishedTable>,

    /// Background
    #[arg(long, default_value = "light", value_parser = theme())]
    pub theme: Theme,

    /// The file to write, .svg or .png (by rsvg-convert); further pictures are numbered
    #[arg(long, short, value_name = "FILE", value_parser = picture_file)]
    pub output: PictureFile,
}

fn theme() -> impl TypedValueParser<Value = Theme> {
    super::one_of([
        (Theme::Light, "light", "Dark on light"),
        (Theme::Dark, "dark", "Light on dark"),
    ])
}

/// A file of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureFile {
    pub path: PathBuf,
    pub format: PictureFormat,
}

/// Format of a picture's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    /// Lines and text.
    Svg,
    /// Pixels.
    Png,
}

/// Each with what it shows.
pub(super) fn kinds() -> impl TypedValueParser<Value = PictureKind> {
    let kinds = PictureKind::ALL.iter();
    super::one_of(kinds.map(|kind| (*kind, kind.word(), kind.about())))
}

pub(super) fn picture_file(text: &str) -> Result<PictureFile, String> {
    let path = PathBuf::from(text);
    let ending = path.extension().and_then(|ending| ending.to_str());
    let format = match ending.map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => PictureFormat::Svg,
        Some("png") => PictureFormat::Png,
        _ => return Err(format!("'{text}' must end in .svg or .png")),
    };
    Ok(PictureFile { path, format })
}
