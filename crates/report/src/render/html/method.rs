//! Where METHODOLOGY.md says how figures are made.

/// One of its sections.
pub(super) struct Link {
    pub(super) address: String,
    pub(super) title: &'static str,
    pub(super) says: &'static str,
}

/// Title of the section, and what is in it.
const SECTIONS: [(&str, &str); 9] = [
    (
        "What is timed",
        "what stands between the two readings of the clock, for each stack",
    ),
    ("In which order", "why cases take turns"),
    ("When to stop", "how many operations are enough"),
    (
        "Statistics",
        "means, intervals, percentiles, ratios, and what the remarks mean",
    ),
    (
        "Across runs",
        "why two runs differ by more than their intervals say",
    ),
    (
        "Where the time goes",
        "layers, and what was measured on the way",
    ),
    (
        "Cards, virtual and twins",
        "what is measured and what is not of a device that is not there",
    ),
    ("In parallel", "bounds and the law of several workers"),
    ("What the figures do not say", "limits"),
];

pub(super) fn links() -> Vec<Link> {
    let link = |(title, says): (&'static str, &'static str)| Link {
        address: format!(
            "{}/blob/main/METHODOLOGY.md#{}",
            env!("CARGO_PKG_REPOSITORY"),
            anchor(title)
        ),
        title,
        says,
    };
    SECTIONS.into_iter().map(link).collect()
}

/// As GitHub makes it of a heading.
fn anchor(title: &str) -> String {
    let kept = title
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == ' ');
    kept.map(|c| {
        if c == ' ' {
            '-'
        } else {
            c.to_ascii_lowercase()
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_leads_to_a_heading() {
        let page = include_str!("../../../../../METHODOLOGY.md");
        let headings: Vec<String> = page
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .map(anchor)
            .collect();
        for link in links() {
            let (_, anchor) = link.address.split_once('#').unwrap();
            assert!(headings.iter().any(|heading| heading == anchor), "{anchor}");
        }
    }
}
