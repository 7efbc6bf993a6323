//! `keymark published`

use clap::{Args, ValueEnum};
use keymark_bench::Algorithm;
use keymark_records::published::{DeviceKind, Grade};

/// Form of the collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FiguresFormat {
    /// Table for people
    Text,
    /// Rows in the form of data/published
    Csv,
    /// JSON object for each figure
    Json,
}

/// `keymark published`
#[derive(Debug, Args)]
pub struct PublishedArguments {
    /// Device, by its name or a part of it
    #[arg(value_name = "DEVICE")]
    pub device: Option<String>,
    /// Kinds of devices: keycard, smart-card, usb-hsm, network-hsm, cloud-hsm, cloud-kms, tpm, secure-element, cpu, mcu
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub kind: Vec<DeviceKind>,
    /// Algorithms of the keys
    #[arg(long, short, value_name = "LIST", value_delimiter = ',')]
    pub algorithm: Vec<Algorithm>,
    /// Grades: measured, vendor-measured, vendor-specification, simulated, quota, anecdote
    #[arg(long, value_name = "GRADE", value_delimiter = ',')]
    pub grade: Vec<Grade>,
    /// Format of the output
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Output"
    )]
    pub format: FiguresFormat,
}
