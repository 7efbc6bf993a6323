//! Environment of a run, read once before anything is timed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::processor::{self, CoreKind, Throttling, field};
use crate::words::words;

words! {
    /// Kind of progress display during a run.
    #[derive(Default)]
    pub enum View("view") {
        /// Nowhere.
        #[default]
        None = "none",
        /// A line on a terminal.
        Terminal = "terminal",
    }
}

impl View {
    const fn is_none(&self) -> bool {
        match self {
            Self::None => true,
            Self::Terminal => false,
        }
    }
}

/// The machine and the programs of a run. What could not be found out is absent, not guessed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Owner's name for the machine (an inventory's name), never its host name unless the owner says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Model name of the processor.
    pub cpu_model: Option<String>,
    /// Architecture of the machine where it is another than the program's, or `QEMU`: with an emulator, times mean nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulated_on: Option<String>,
    /// Kinds of the cores that this process may use, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub core_kinds: Vec<CoreKind>,
    /// Causes for which the firmware had slowed the machine down when the run began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttling: Vec<Throttling>,
    /// Processors this process may use.
    pub cores: u32,
    /// Processors' worth of time that a container may use, where its control group limits it: 0.5 is half of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<f64>,
    /// Frequency governor of the first processor.
    pub governor: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// Name of the distribution.
    pub os: Option<String>,
    /// Hypervisor or container, as far as it shows.
    pub virtualization: Option<String>,
    /// Memory in kibibytes.
    pub memory_kib: Option<u64>,
    /// Load average over one minute when the run began.
    pub load_average: Option<f64>,
    /// Version of keymark, with the commit it was built from.
    pub keymark: String,
    /// Progress display: drawing takes time.
    #[serde(default, skip_serializing_if = "View::is_none")]
    pub view: View,
    /// Versions of libraries and programs, by name.
    pub versions: BTreeMap<String, String>,
    /// The arguments that keymark was given, without those that say only where results go and the seed, which
    /// is in the plan: with them the run can be made again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
}

impl Environment {
    /// Reads `/proc` and `/sys`; `keymark` is the version of the program that measures.
    pub fn capture(keymark: &str) -> Self {
        Self::read(Path::new("/"), keymark)
    }

    fn read(root: &Path, keymark: &str) -> Self {
        let text = |path: &str| {
            fs::read_to_string(root.join(path))
                .ok()
                .map(|text| text.trim().to_owned())
                .filter(|t| !t.is_empty())
        };
        let cpuinfo = text("proc/cpuinfo").unwrap_or_default();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        Self {
            machine: None,
            cpu_model: processor::model(&cpuinfo, &text),
            emulated_on: processor::emulated_on(&cpuinfo, &text, std::env::consts::ARCH),
            core_kinds: processor::core_kinds(&cpuinfo, &text),
            throttling: Throttling::read(&text),
            cores: u32::try_from(cores).unwrap_or(u32::MAX),
            cpu_quota: cpu_quota(&text),
            governor: text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            kernel: text("proc/sys/kernel/osrelease"),
            os: text("etc/os-release")
                .and_then(|release| field(&release, "PRETTY_NAME", '='))
                .map(|name| name.trim_matches('"').to_owned()),
            virtualization: virtualization(&cpuinfo, &text),
            memory_kib: text("proc/meminfo")
                .and_then(|memory| field(&memory, "MemTotal", ':'))
                .and_then(|total| total.split_whitespace().next()?.parse().ok()),
            load_average: text("proc/loadavg")
                .and_then(|load| load.split(' ').next()?.parse().ok()),
            view: View::default(),
            keymark: keymark.to_owned(),
            versions: BTreeMap::new(),
            command: Vec::new(),
        }
    }
}

/// The least quota of this process' control group and those above it (cgroups(7), versions 1 and 2).
fn cpu_quota(text: &dyn Fn(&str) -> Option<String>) -> Option<f64> {
    let groups = text("proc/self/cgroup")?;
    let mut least: Option<f64> = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let quota = |group: &str| match controllers {
            "" => quota_of(&text(&format!("sys/fs/cgroup{group}/cpu.max"))?),
            _ => {
                let file = |name| text(&format!("sys/fs/cgroup/cpu{group}/cpu.cfs_{name}_us"));
                quota_of(&format!("{} {}", file("quota")?, file("period")?))
            }
        };
        if controllers.is_empty() || controllers.split(',').any(|name| name == "cpu") {
            let above = Path::new(path).ancestors().filter_map(Path::to_str);
            let quotas = above.filter_map(|group| quota(group.trim_end_matches('/')));
            least = quotas.chain(least).min_by(f64::total_cmp);
        }
    }
    least
}

/// `50000 100000`: microseconds of time in each period; `max` and -1 are no limit.
fn quota_of(limit: &str) -> Option<f64> {
    let (quota, period) = limit.split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

fn virtualization(cpuinfo: &str, text: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let container = ["run/.containerenv", ".dockerenv"]
        .iter()
        .any(|path| text(path).is_some());
    let hypervisor = field(cpuinfo, "flags", ':')
        .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
        .then(|| {
            text("sys/class/dmi/id/sys_vendor")
                .or_else(|| text("sys/hypervisor/type"))
                .unwrap_or_else(|| "hypervisor, unnamed".to_owned())
        });
    match (hypervisor, container) {
        (Some(name), true) => Some(format!("{name}, in a container")),
        (Some(name), false) => Some(name),
        (None, true) => Some("container".to_owned()),
        (None, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_quota_of_the_groups_is_found() {
        let files = |known: &'static [(&str, &str)]| {
            move |path: &str| {
                known
                    .iter()
                    .find(|(name, _)| *name == path)
                    .map(|(_, text)| (*text).to_owned())
            }
        };
        let second = files(&[
            ("proc/self/cgroup", "0::/a/b"),
            ("sys/fs/cgroup/a/b/cpu.max", "max 100000"),
            ("sys/fs/cgroup/a/cpu.max", "50000 100000"),
        ]);
        assert_eq!(cpu_quota(&second), Some(0.5));
        let first = files(&[
            (
                "proc/self/cgroup",
                "3:memory:/\n2:cpu,cpuacct:/docker/x\n1:name=systemd:/",
            ),
            ("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "150000"),
            ("sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"),
        ]);
        assert_eq!(cpu_quota(&first), Some(1.5));
        assert_eq!(cpu_quota(&files(&[("proc/self/cgroup", "0::/")])), None);
    }

    #[test]
    fn a_hypervisor_shows_in_the_cpu_flags() {
        for (flags, vendor, expected) in [
            ("fpu hypervisor", Some("QEMU"), Some("QEMU")),
            ("fpu", Some("QEMU"), None),
            ("hypervisor", None, Some("hypervisor, unnamed")),
        ] {
            let text = |path: &str| {
                let vendor = vendor.filter(|_| path == "sys/class/dmi/id/sys_vendor");
                vendor.map(str::to_owned)
            };
            let found = virtualization(&format!("flags : {flags}\n"), &text);
            assert_eq!(found.as_deref(), expected);
        }
    }

    #[test]
    fn nothing_is_made_up_where_nothing_can_be_read() {
        let nowhere = Environment::read(Path::new("/nonexistent"), "0");
        assert_eq!(
            (nowhere.cpu_model, nowhere.kernel, nowhere.memory_kib),
            (None, None, None)
        );
        assert!(nowhere.cores >= 1);
    }
}
