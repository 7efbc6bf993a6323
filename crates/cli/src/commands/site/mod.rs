//! `keymark site`

mod directory;

use std::path::{Path, PathBuf};

use itertools::Itertools;
use keymark_bench::Record;
use keymark_records::exchange::Folder;
use keymark_records::exchange::share::{self, Shared};
use keymark_records::exchange::{self, json};
use keymark_records::published::PublishedTable;
use keymark_report::Document;
use keymark_report::analysis::Analysis;
use keymark_report::render::html::{self, ReadIn};
use keymark_report::report::report;
use keymark_report::site::{Added, Devices, Pages, RecordOrigin, Site, SiteSource};
use keymark_report::units::counted;
use keymark_report::visible::visible;

use self::directory::SiteDirectory;
use crate::args::SiteArguments;
use crate::documents::{self, export};
use crate::exit::{Exit, Failure, Outcome};
use crate::output;

const TITLE: &str = "What a private key costs";

pub(super) fn run(arguments: &SiteArguments) -> Outcome {
    let directory = SiteDirectory::examine(&arguments.output, &arguments.records)?;
    let folder = Folder::list(&arguments.records)?;
    for path in &folder.aside {
        let path = path.display().to_string();
        let path = visible(&path);
        output::note(&format!("skipping {path}: records end in .json or .csv"));
    }
    let mut building = Building {
        refused: folder.refused.len(),
        ..Building::default()
    };
    for refused in &folder.refused {
        output::error(refused);
    }
    for path in &folder.records {
        building.read(path)?;
    }
    let (read, refused) = (building.contributed.len(), building.refused);
    let records = arguments.records.display();
    if read == 0 && refused == 0 && !arguments.all_published {
        return Err(Failure::nothing_usable(format!(
            "{records} has no record; 'keymark share last -o {records}/run.json' puts one there"
        )));
    }
    if read == 0 && refused > 0 {
        return Err(Failure::failed(format!(
            "no site was written: all {refused} records in {records} were refused"
        )));
    }
    let of = if arguments.all_published {
        Devices::AlsoPublished
    } else {
        Devices::Contributed
    };
    let (devices, pages) = building.finish(of)?;
    directory.write(&pages)?;
    output::line(&arguments.output.join("index.html").display().to_string());
    let (read, devices) = (counted(read, "record"), counted(devices, "device"));
    output::note(&format!("{read}, {refused} refused; {devices}"));
    Ok(Exit::of(refused > 0, false))
}

/// A site in the making. Samples are not kept: a folder may have more of them than memory.
#[derive(Default)]
struct Building {
    contributed: Vec<SiteSource>,
    /// File of each contribution.
    paths: Vec<PathBuf>,
    refused: usize,
    pages: Pages,
}

impl Building {
    /// Reads a file, or prints an error.
    fn read(&mut self, path: &Path) -> Result<(), Failure> {
        let record = match exchange::import(path) {
            Ok(record) => record,
            Err(refused) => {
                self.refused += 1;
                output::error(&refused.to_string());
                return Ok(());
            }
        };
        let record = match share::cleaned(&record)? {
            None => record,
            Some(shared) => {
                output::warning(&taken_out(path, &shared));
                shared.record
            }
        };
        let (source, added) = self.add(&record, RecordOrigin::Contributed)?;
        match added {
            Added::New => {
                self.contributed.push(source);
                self.paths.push(path.to_path_buf());
            }
            Added::Same => {
                let mut known = self.contributed.iter().zip(&self.paths);
                let first = known.find(|(known, _)| known.address == source.address);
                let first = first.map_or_else(String::new, |(_, path)| path.display().to_string());
                let path = path.display().to_string();
                output::warning(&visible(&format!(
                    "{path} has the same record as {first}, which counts once"
                )));
            }
        }
        Ok(())
    }

    /// Makes the download and the report of a record.
    fn add(
        &mut self,
        record: &Record,
        origin: RecordOrigin,
    ) -> Result<(SiteSource, Added), Failure> {
        let analysis = documents::analysis(record);
        let mut file = Vec::new();
        json::write(record, &mut file)?;
        let content = String::from_utf8_lossy(&file);
        let source = SiteSource::of(record, &analysis, origin, &content);
        let download = format!("{}.json", source.address);
        let page = html::render(document(record, &analysis), ReadIn::Site(&download));
        let page = page?.into_bytes();
        let added = self.pages.add(source.file(), file)?;
        self.pages.add(source.page(), page)?;
        Ok((source, added))
    }

    /// Returns the number of devices, and all files.
    fn finish(mut self, of: Devices) -> Result<(usize, Pages), Failure> {
        let mut shipped = Vec::new();
        for &article in PublishedTable::of_times() {
            let record = article.record()?;
            let analysis = documents::analysis(&record);
            let source = SiteSource::of(&record, &analysis, RecordOrigin::Shipped(article), "");
            if of.take(&source, &self.contributed) {
                // The very table may be among the contributions.
                let (source, added) = self.add(&record, RecordOrigin::Shipped(article))?;
                shipped.extend(Some(source).filter(|_| added == Added::New));
            }
        }
        let site = Site::of(TITLE.to_owned(), of, self.contributed, shipped);
        html::add_pages(&site, &mut self.pages)?;
        Ok((site.devices.len(), self.pages))
    }
}

/// Returns the report of a record, as `keymark export` writes it.
fn document(record: &Record, analysis: &Analysis) -> Document {
    let document = analysis.document(record, &documents::published_figures(record));
    report(vec![export::part(record, document)], None)
}

/// Returns a warning about a record that was exported and not shared.
fn taken_out(path: &Path, shared: &Shared) -> String {
    let kinds = shared.removed.iter().map(|removal| removal.kind);
    let kinds = kinds.sorted_unstable().dedup();
    let what = std::iter::once("command").chain(kinds).format(", ");
    format!(
        "{} was exported, not shared; removed: {what}. It may still contain names that only its own machine can \
         recognize: ask for a file made by 'keymark share'",
        visible(&path.display().to_string())
    )
}
