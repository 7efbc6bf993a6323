//! Flash geometries, as `data/*.toml` describes them: sectors, program unit, times and endurance.
//!
//! Times are integers in the unit of their name, so that a figure such as 81.69 µs
//! survives being written to a file and read again.

use std::fmt::Display;
use std::time::Duration;

use include_dir::{Dir, include_dir};
use serde::Deserialize;

/// The only version of the format so far.
const SCHEMA: i64 = 1;

/// Geometries that come with keymark: a file each, and a README.
static SHIPPED: Dir = include_dir!("$CARGO_MANIFEST_DIR/data");

/// The most flash that may be reserved, in bytes.
const MOST_BYTES: usize = 16 << 20;

/// Why a geometry cannot be had, in words with its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GeometryError(String);

/// Returns an error with the field to change; the geometry is called by its name, or its file.
fn malformed(name: &str, reason: impl Display) -> GeometryError {
    GeometryError(format!("cannot use flash geometry {name}: {reason}"))
}

/// Rule for programming a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramRule {
    /// Erased units only; to all zeros at any time. STM32F1 (PM0075, 2.3.3: the controller reads the halfword first
    /// and skips the programming with PGERR unless the data are 0x0000).
    ErasedOrZero,
    /// Likewise, and every unit has an error-correcting code: a unit torn by power loss cannot be
    /// read. STM32L4 (RM0394, 3.3.7: PROGERR unless erased or all zeros; 3.3.9: a double error
    /// is reported on reading).
    ErasedOrZeroEcc,
    /// Any bit from 1 to 0 at any time. STM32F4 (RM0090, 3.6.3: successive writes need no erase
    /// when they change bits from 1 to 0).
    BitsClear,
}

/// Adjacent sectors of one size.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SectorRun {
    /// Number of sectors.
    pub count: usize,
    /// Bytes of one sector.
    pub bytes: usize,
    /// Typical time of erasing one sector, in microseconds.
    pub erase_typical_us: u64,
    /// Longest time of erasing one sector, in microseconds.
    pub erase_maximum_us: u64,
}

/// The part of a microcontroller's flash that is reserved for storage.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Geometry {
    /// Name of the geometry, such as `stm32f103-1k`.
    pub name: String,
    /// Documents and tables the figures are from.
    pub sources: Vec<String>,
    /// Assumptions in addition to the published figures.
    #[serde(default)]
    pub assumed: Vec<String>,
    /// Rule for programming a unit.
    pub rule: ProgramRule,
    /// Bytes programmed at once: 2, 4, 8 or 16.
    pub program_unit_bytes: usize,
    /// Typical time of programming one unit, in nanoseconds.
    pub program_typical_ns: u64,
    /// Longest time of programming one unit, in nanoseconds.
    pub program_maximum_ns: u64,
    /// Sectors in order of address.
    pub sectors: Vec<SectorRun>,
    /// Erase cycles a sector is specified for.
    pub endurance_cycles: u32,
}

/// Erasable sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sector {
    /// Address of the first byte, from the start of the reserved part.
    pub start: usize,
    /// Size in bytes.
    pub bytes: usize,
    /// Typical time of an erase.
    pub erase_typical: Duration,
    /// Longest time of an erase.
    pub erase_maximum: Duration,
}

impl Geometry {
    /// The geometries that come with keymark.
    pub fn shipped() -> Result<Vec<Self>, GeometryError> {
        let files = SHIPPED.files();
        let geometries = files.filter(|file| file.path().extension() == Some("toml".as_ref()));
        let texts = geometries.filter_map(include_dir::File::contents_utf8);
        let parse = |text| Self::parse(text, "that comes with keymark");
        texts.map(parse).collect()
    }

    /// The shipped geometry of that name.
    pub fn find(wanted: &str) -> Result<Self, GeometryError> {
        let shipped = Self::shipped()?;
        let names: Vec<&str> = shipped.iter().map(|known| known.name.as_str()).collect();
        let unknown = format!(
            "unknown flash geometry '{wanted}'; choose from {}, or give the path of a .toml file",
            names.join(", ")
        );
        shipped
            .into_iter()
            .find(|known| known.name == wanted)
            .ok_or(GeometryError(unknown))
    }

    /// A geometry as in `data`; errors call it `name`.
    pub fn parse(text: &str, name: &str) -> Result<Self, GeometryError> {
        let refused = |error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(0, |before| before.matches('\n').count()) + 1;
            malformed(name, format!("line {line}: {}", error.message()))
        };
        let mut table: toml::Table = text.parse().map_err(refused)?;
        let schema = table
            .remove("schema")
            .and_then(|schema| schema.as_integer());
        if schema != Some(SCHEMA) {
            return Err(malformed(
                name,
                format!("this keymark reads schema = {SCHEMA}"),
            ));
        }
        let geometry: Self = table.try_into().map_err(refused)?;
        geometry.validate()?;
        Ok(geometry)
    }

    /// Checks what a file may have got wrong.
    fn validate(&self) -> Result<(), GeometryError> {
        let unit = self.program_unit_bytes;
        let bytes = self.sectors.iter().try_fold(0usize, |sum, run| {
            run.count
                .checked_mul(run.bytes)
                .and_then(|bytes| sum.checked_add(bytes))
        });
        let step = unit.max(8);
        // With single bytes an erased one could be the first of a record.
        let reason = if self.name.trim().is_empty() {
            "it has no name".to_owned()
        } else if ![2, 4, 8, 16].contains(&unit) {
            format!("program-unit-bytes is {unit}; it must be 2, 4, 8 or 16")
        } else if let Some(run) = self
            .sectors
            .iter()
            .find(|run| run.bytes < 64 || !run.bytes.is_multiple_of(step))
        {
            format!(
                "a sector of {} bytes; it must be a multiple of {step}, at least 64",
                run.bytes
            )
        } else if bytes == Some(0) {
            "there are no sectors; give at least one with a count".to_owned()
        } else if bytes.is_none_or(|bytes| bytes > MOST_BYTES) {
            format!(
                "sectors of more than {MOST_BYTES} bytes; give those that are reserved for storage"
            )
        } else if self.program_typical_ns > self.program_maximum_ns
            || self
                .sectors
                .iter()
                .any(|run| run.erase_typical_us > run.erase_maximum_us)
        {
            "a typical time is longer than the maximum".to_owned()
        } else if self.endurance_cycles == 0 {
            "endurance-cycles is 0; give the cycles of the datasheet".to_owned()
        } else {
            return Ok(());
        };
        Err(malformed(&self.name, reason))
    }

    /// The sectors in order of address.
    pub fn sector_list(&self) -> Vec<Sector> {
        let mut end = 0;
        let sector = |run: &SectorRun| {
            end += run.bytes;
            Sector {
                start: end - run.bytes,
                bytes: run.bytes,
                erase_typical: Duration::from_micros(run.erase_typical_us),
                erase_maximum: Duration::from_micros(run.erase_maximum_us),
            }
        };
        self.sectors
            .iter()
            .flat_map(|run| std::iter::repeat_n(run, run.count))
            .map(sector)
            .collect()
    }
}
