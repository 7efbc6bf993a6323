//! Findings for programs that show them beside code: SARIF 2.1.0 (OASIS).

use std::collections::BTreeMap;

use serde::Serialize;
use serde::ser::SerializeStruct as _;

use super::finding::Finding;
use super::{Audit, Audited, Kind};

/// Where the form is defined.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// An audit as a log with one run.
#[derive(Debug, Serialize)]
pub struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Debug, Serialize)]
struct Run<'a> {
    tool: Tool<'a>,
    results: Vec<SarifResult<'a>>,
}

#[derive(Debug, Serialize)]
struct Tool<'a> {
    driver: Driver<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver<'a> {
    name: &'static str,
    version: &'a str,
    information_uri: &'a str,
    rules: Vec<Rule>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: Kind,
    short_description: Text,
    help: Text,
}

#[derive(Debug, Serialize)]
struct Text {
    text: String,
}

#[derive(Debug)]
struct SarifResult<'a> {
    key: &'a Audited,
    finding: &'a Finding,
}

impl Serialize for SarifResult<'_> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { key, finding } = self;
        let message = Text {
            text: in_words(key, finding),
        };
        let region = key
            .place
            .line
            .map(|line| BTreeMap::from([("startLine", line)]));
        let artifact = BTreeMap::from([("uri", &key.place.within)]);
        let mut physical = BTreeMap::from([("artifactLocation", Physical::Artifact(artifact))]);
        physical.extend(region.map(|region| ("region", Physical::Region(region))));
        let mut result = to.serialize_struct("result", 4)?;
        result.serialize_field("ruleId", &finding.kind)?;
        result.serialize_field("level", &finding.level)?;
        result.serialize_field("message", &message)?;
        let location = BTreeMap::from([("physicalLocation", physical)]);
        result.serialize_field("locations", &[location])?;
        result.end()
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Physical<'a> {
    Artifact(BTreeMap<&'static str, &'a String>),
    Region(BTreeMap<&'static str, usize>),
}

/// A finding and the key that has it, in one sentence.
pub fn in_words(key: &Audited, finding: &Finding) -> String {
    let Finding {
        text,
        detail,
        source,
        advice,
        ..
    } = finding;
    let detail = if detail.is_empty() {
        String::new()
    } else {
        format!(" ({detail})")
    };
    let (algorithm, owner) = (&key.algorithm, &key.owner);
    let owner = if owner.is_empty() {
        String::new()
    } else {
        format!(" of {owner}")
    };
    format!("{algorithm}{owner}: {text}{detail}. {source}. What to do: {advice}")
}

impl<'a> Log<'a> {
    /// Every finding, by that version of the program, which is found there.
    pub fn of(audit: &'a Audit, version: &'a str, home: &'a str) -> Self {
        let results = audit.keys.iter().flat_map(|key| {
            let findings = key.findings.iter();
            findings.map(move |finding| SarifResult { key, finding })
        });
        let rule = |kind: Kind| Rule {
            id: kind,
            short_description: Text {
                text: kind.to_string(),
            },
            help: Text {
                text: kind.advice().to_owned(),
            },
        };
        let driver = Driver {
            name: "keymark",
            version,
            information_uri: home,
            rules: Kind::ALL.iter().copied().map(rule).collect(),
        };
        Self {
            schema: SCHEMA,
            version: "2.1.0",
            runs: [Run {
                tool: Tool { driver },
                results: results.collect(),
            }],
        }
    }
}
