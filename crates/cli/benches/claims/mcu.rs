//! The simulator's predictions against the published times of the FST-01.

use std::path::Path;

use keymark_mcu::kernel::Kernel;
use keymark_mcu::predict::Prediction;
use keymark_mcu::target::Target;
use keymark_mcu::timing::{Pipeline, Untimed};
use keymark_records::published;
use keymark_stats::Seconds;

use super::figure::{Failure, Figure, Limit};

/// `gpg --decrypt` on the FST-01, host included.
const PUBLISHED: &str = "data/published/gnuk-f103-2017.csv";
const PUBLISHED_ROWS: &[u8] = include_bytes!("../../../../data/published/gnuk-f103-2017.csv");

/// The deviation of each prediction.
pub(crate) fn measure() -> Result<Vec<Figure>, Failure> {
    let target: Target = "stm32f103:gnuk-2017".parse()?;
    let mut figures = Vec::new();
    let record = published::parse(Path::new(PUBLISHED), PUBLISHED_ROWS)?;
    for case in &record.cases {
        let Some(Seconds(published)) = case.published.as_ref().map(|figure| figure.mean) else {
            continue;
        };
        let kernel: Kernel = case.case.algorithm.to_string().parse()?;
        let prediction = Prediction::new(&target, kernel)?;
        figures.push(Figure::new(
            format!(
                "{kernel} on {target}: predicted {:.3} s against {published} s published, deviation",
                prediction.seconds().0
            ),
            100.0 * (prediction.seconds().0 / published - 1.0).abs(),
            Limit::AtMost(10.0),
            " %",
        ));
    }
    Ok(figures)
}
