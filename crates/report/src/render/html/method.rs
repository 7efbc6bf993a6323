//! Links to the pages that say how figures are made.

/// One page of docs/methodology.
pub(super) struct Link {
    pub(super) address: String,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
}

/// File of a page, its title, and what it explains.
const PAGES: [(&str, &str, &str); 7] = [
    (
        "timing",
        "What is timed",
        "what lies between the two readings of the clock, for each stack",
    ),
    (
        "running",
        "How a run proceeds",
        "why cases take turns, and when a case stops",
    ),
    (
        "statistics",
        "Statistics",
        "means, intervals, percentiles, ratios, and what the remarks mean",
    ),
    (
        "across-runs",
        "Across runs",
        "why two runs differ by more than their intervals say",
    ),
    (
        "layers",
        "Where the time goes",
        "layers, and parts measured by process",
    ),
    (
        "devices",
        "Virtual cards and twins",
        "what is measured and what is assumed where the device is not there",
    ),
    (
        "parallel",
        "In parallel",
        "throughput and limits of several workers",
    ),
];

const LIMITS: &str = "What the figures do not say";

pub(super) fn links() -> Vec<Link> {
    let repository = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main");
    let page = |(file, title, about): (&str, &'static str, &'static str)| Link {
        address: format!("{repository}/docs/methodology/{file}.md"),
        title,
        about,
    };
    let limits = Link {
        address: format!("{repository}/METHODOLOGY.md#what-the-figures-do-not-say"),
        title: LIMITS,
        about: "limits",
    };
    PAGES.into_iter().map(page).chain([limits]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_leads_to_a_heading() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (file, title, _) in PAGES {
            let page = root.join(format!("docs/methodology/{file}.md"));
            let page = std::fs::read_to_string(page).unwrap();
            assert_eq!(page.lines().next(), Some(&*format!("# {title}")));
        }
        let index = std::fs::read_to_string(root.join("METHODOLOGY.md")).unwrap();
        assert!(index.contains(&format!("\n## {LIMITS}\n")));
    }
}
