//! The simulator: its speed, functional and timed, against QEMU on the same program, and its predictions
//! against the published times of the FST-01.

use std::path::Path;
use std::process::{Command, Stdio};

use keymark_mcu::kernel::Kernel;
use keymark_mcu::predict::Prediction;
use keymark_mcu::target::Target;
use keymark_records::published;
use keymark_stats::Seconds;

use super::figure::{Failure, Figure, Limit, median, time};
use super::unmarked;

/// Executions of each kind, in turns.
const TURNS: usize = 5;
/// `gpg --decrypt` on the FST-01, host included.
const PUBLISHED: &str = "data/published/gnuk-f103-2017.csv";
const PUBLISHED_ROWS: &[u8] = include_bytes!("../../../../data/published/gnuk-f103-2017.csv");

/// All figures of the simulator.
pub(crate) fn measure() -> Result<Vec<Figure>, Failure> {
    let target: Target = "stm32f103:gnuk-2017".parse()?;
    let mut figures = speed(&target)?;
    let record = published::parse(Path::new(PUBLISHED), PUBLISHED_ROWS)?;
    for case in &record.cases {
        let Some(Seconds(published)) = case.published.as_ref().map(|figure| figure.mean) else {
            continue;
        };
        let kernel: Kernel = case.case.algorithm.to_string().parse()?;
        let prediction = Prediction::new(&target, kernel)?;
        let predicted = prediction.seconds().0;
        let name = format!(
            "{kernel} on {target}: predicted {predicted:.3} s against {published} s published, deviation"
        );
        let off = 100.0 * (predicted / published - 1.0).abs();
        figures.push(Figure::new(name, off, Limit::AtMost(10.0), " %"));
    }
    Ok(figures)
}

/// Functional, timed and QEMU's execution of RSA-4096 take turns.
fn speed(target: &Target) -> Result<Vec<Figure>, Failure> {
    let kernel = Kernel::Rsa4096;
    let elf = tempfile::NamedTempFile::new()?;
    std::fs::write(
        elf.path(),
        unmarked::elf_without_markers(kernel, &target.mcu, &target.options)?,
    )?;
    let mcu = &target.mcu;
    let (mut functional, mut timed, mut qemu) = (Vec::new(), Vec::new(), Vec::new());
    let mut instructions = 0;
    for _ in 0..TURNS {
        let took = time(|| {
            let machine = kernel.execute(mcu, &target.options);
            machine.map(|machine| instructions = machine.executed())
        })?;
        functional.push(took.as_secs_f64());
        let took = time(|| kernel.time(mcu, &target.options).map(drop))?;
        timed.push(took.as_secs_f64());
        if let Some(time) = run_qemu(elf.path())? {
            qemu.push(time);
        }
    }
    let million = instructions as f64 / 1e6;
    let (functional, timed) = (median(functional), median(timed));
    println!(
        "rsa4096 on {target}, {million:.1} M instructions: functional {:.0} M instructions/s, timed {:.0}, {timed:.2} s",
        million / functional,
        million / timed
    );
    if qemu.is_empty() {
        println!(
            "SKIPPED: qemu-system-arm is missing, with which the simulator's speed is compared; apt-get install \
             qemu-system-arm brings it"
        );
        return Ok(Vec::new());
    }
    let qemu = median(qemu);
    println!(
        "qemu-system-arm on the same program, functional, process start included: {:.0} M instructions/s",
        million / qemu
    );
    Ok(vec![
        figure("functional execution", qemu / functional, 0.35),
        figure("timed execution", qemu / timed, 0.17),
    ])
}

/// A speed as a share of QEMU's in the same minute: machines differ by a factor of two.
fn figure(name: &str, share: f64, least: f64) -> Figure {
    Figure::new(
        format!("{name} of rsa4096 over qemu-system-arm's, medians of {TURNS}"),
        share,
        Limit::AtLeast(least),
        "",
    )
}

/// The whole process; `None` where there is no QEMU.
fn run_qemu(elf: &Path) -> Result<Option<f64>, Failure> {
    let mut command = Command::new("qemu-system-arm");
    command
        .args("-machine mps2-an385 -nographic -monitor none -serial none".split(' '))
        .args(["-semihosting-config", "enable=on,target=native", "-kernel"])
        .arg(elf)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        // QEMU writes there what the program says by semihosting.
        .stderr(Stdio::null());
    let took = time(|| match command.status()? {
        status if status.success() => Ok(()),
        status => Err(std::io::Error::other(format!("it ended with {status}"))),
    });
    match took {
        Ok(took) => Ok(Some(took.as_secs_f64())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("qemu-system-arm: {error}").into()),
    }
}
