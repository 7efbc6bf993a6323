//! A site of contributed records: which devices and machines they are of, and the content of the page of each device.
//!
//! Everything is said here; [`render::html`](crate::render::html) writes it down.

mod device;
mod pages;
mod sections;
mod source;

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use keymark_bench::{KeyFamily, Provenance, Strength};

pub use device::Identified;
pub use pages::{Added, Collision, Pages, SUMS, sum};
pub use sections::KeySection;
pub use source::{RecordOrigin, SiteMachine, SiteSource, SourceDevice, SourceFigure};

/// Note on every page with figures of several sources.
pub const NO_RANKING: &str = "This page shows figures of different machines, programs and days side by side. They \
                              are not a ranking: a lower figure may be due to another processor behind the same \
                              device, another version, other load, or another way to the key. Figures within one \
                              record were measured in turn and can be compared; across machines they cannot. \
                              Intervals hold for their own run only; another run may differ by more.";

/// Note on the table of strengths.
pub const SECURITY: &str = "Security against attackers without a quantum computer, by NIST SP 800-57 part 1 rev. \
                            5, table 2; for post-quantum algorithms by the category of FIPS 203 to 205; for a TLS \
                            handshake that of the weaker of certificate and key exchange. Tables after CNSA have \
                            P-384 at 128 bits.";

/// Returns the meaning of a kind of figures, and its look.
pub const fn meaning(kind: Provenance) -> &'static str {
    match kind {
        Provenance::Measured => "keymark measured the device or library itself (a filled mark)",
        Provenance::Virtual => {
            "a token's real firmware or module, running on the machine's processor (a half-filled mark)"
        }
        Provenance::Twin => {
            "a real program with a simulated device, with published or recorded times (a hatched mark)"
        }
        Provenance::Predicted => "calculated by a model; nothing was measured (a dotted mark)",
        Provenance::Published => "stated by an article or a maker (a hollow mark)",
    }
}

/// Devices that have a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Devices {
    /// Devices with a contributed record.
    Contributed,
    /// Devices in articles also.
    AlsoPublished,
}

impl Devices {
    /// Tells if a record of keymark's has a place next to the contributed ones.
    pub fn take(self, shipped: &SiteSource, contributed: &[SiteSource]) -> bool {
        let known = identified(contributed);
        let mut devices = shipped.devices.iter();
        self == Self::AlsoPublished || devices.any(|device| known.contains(&device.identified))
    }
}

fn identified(sources: &[SiteSource]) -> BTreeSet<Identified> {
    let devices = sources.iter().flat_map(|source| &source.devices);
    devices.map(|device| device.identified.clone()).collect()
}

/// All that is shown.
#[derive(Debug)]
pub struct Site {
    pub title: String,
    pub of: Devices,
    pub devices: Vec<Device>,
    pub machines: Vec<SiteMachine>,
    /// The oldest first.
    pub sources: Vec<SiteSource>,
}

/// A device, with all that is known of it.
#[derive(Debug)]
pub struct Device {
    pub identified: Identified,
    /// Strengths by family; none where no table lists it.
    pub strengths: BTreeMap<KeyFamily, BTreeSet<Option<Strength>>>,
    /// Number of figures of each kind.
    pub kinds: BTreeMap<Provenance, usize>,
    pub sources: Vec<OfDevice>,
    /// Sections by key, operation and strength.
    pub sections: Vec<KeySection>,
}

/// Figures of one device in one source.
#[derive(Debug)]
pub struct OfDevice {
    /// Place in [`Site::sources`].
    pub source: usize,
    /// Names of the device in the source; several if the site takes several for the same.
    pub devices: Vec<SourceDevice>,
    /// Number of figures.
    pub figures: usize,
    /// Addresses that their notes have.
    pub links: Vec<String>,
}

impl Site {
    /// The site of these sources. What comes with keymark is left where it is of a device that has a page.
    pub fn of(
        title: String,
        of: Devices,
        contributed: Vec<SiteSource>,
        mut shipped: Vec<SiteSource>,
    ) -> Self {
        shipped.retain(|source| of.take(source, &contributed));
        let mut wanted = identified(&contributed);
        if of == Devices::AlsoPublished {
            wanted.extend(identified(&shipped));
        }
        let mut sources = contributed;
        sources.extend(shipped);
        sources.sort_by(|a, b| (a.started, &a.address).cmp(&(b.started, &b.address)));
        tell_apart(&mut sources);
        let devices = wanted.into_iter().map(|known| Device::of(known, &sources));
        let mut devices: Vec<Device> = devices.collect();
        devices.sort_by_cached_key(|device| {
            let Identified { id, name } = &device.identified;
            (name.to_lowercase(), id.clone())
        });
        let machines = sources.iter().filter_map(|source| source.machine.clone());
        let machines: BTreeSet<SiteMachine> = machines.collect();
        Self {
            title,
            of,
            devices,
            machines: machines.into_iter().collect(),
            sources,
        }
    }

    /// Returns whether a page has all published figures.
    pub fn has_figures(&self) -> bool {
        self.of == Devices::AlsoPublished
    }

    /// Returns the device with that id, if it has a page.
    pub(crate) fn device(&self, id: &str) -> Option<&Device> {
        self.devices.iter().find(|known| known.identified.id == id)
    }

    /// The contributed records.
    pub fn contributed(&self) -> impl Iterator<Item = &SiteSource> {
        self.sources
            .iter()
            .filter(|source| source.origin == RecordOrigin::Contributed)
    }

    /// The machines that a device's sources were made on.
    pub fn machines_of(&self, device: &Device) -> usize {
        let sources = device.sources.iter().map(|of| &self.sources[of.source]);
        let machines = sources.filter_map(|source| source.machine.as_ref());
        machines.collect::<BTreeSet<_>>().len()
    }
}

/// Two records may be of runs with the same name: each then has a part of its address behind it.
fn tell_apart(sources: &mut [SiteSource]) {
    let times = sources.iter().map(|source| source.name.clone()).counts();
    for source in sources.iter_mut().filter(|source| times[&source.name] > 1) {
        let hash = source.address.rsplit('-').next().unwrap_or_default();
        let hash = hash.get(..8).unwrap_or(hash);
        source.name = format!("{} ({hash})", source.name);
    }
}

impl Device {
    fn of(identified: Identified, sources: &[SiteSource]) -> Self {
        let mut figures: Vec<(&SiteSource, &SourceFigure)> = Vec::new();
        let mut of_sources = Vec::new();
        for (place, source) in sources.iter().enumerate() {
            let is_own = |figure: &&SourceFigure| source.device_of(figure).identified == identified;
            let own: Vec<&SourceFigure> = source.figures.iter().filter(is_own).collect();
            if own.is_empty() {
                continue;
            }
            let devices = source
                .devices
                .iter()
                .filter(|device| device.identified == identified);
            of_sources.push(OfDevice {
                source: place,
                devices: devices.cloned().collect(),
                figures: own.len(),
                links: SiteSource::links(own.iter().copied()),
            });
            figures.extend(own.into_iter().map(|figure| (source, figure)));
        }
        let mut strengths: BTreeMap<KeyFamily, BTreeSet<Option<Strength>>> = BTreeMap::new();
        let mut kinds: BTreeMap<Provenance, usize> = BTreeMap::new();
        for (_, SourceFigure { row, .. }) in &figures {
            let family = strengths
                .entry(KeyFamily::of(row.case.algorithm))
                .or_default();
            family.insert(row.case.strength());
            *kinds.entry(row.case.provenance).or_default() += 1;
        }
        Self {
            identified,
            strengths,
            kinds,
            sources: of_sources,
            sections: sections::sections(&figures),
        }
    }
}

#[cfg(test)]
mod tests;
