//! `keymark published`

use clap::Args;
use keymark_bench::{Algorithm, words};
use keymark_records::published::{DeviceKind, Grade};

words! {
    /// Form of the collection.
    pub enum FiguresFormat("format") {
        /// Table for people.
        Text = "text",
        /// Rows in the form of `data/published`.
        Csv = "csv",
        /// One JSON object per figure.
        Json = "json",
    }
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
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub algorithm: Vec<Algorithm>,
    /// Grades: measured, vendor-measured, vendor-specification, simulated, quota, anecdote
    #[arg(long, value_name = "GRADE", value_delimiter = ',')]
    pub grade: Vec<Grade>,
    /// Form of the output: text, csv, json
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Output"
    )]
    pub format: FiguresFormat,
}
