//! A case as it stands in exports and archives.

use serde::{Deserialize, Serialize};

use super::{Case, DeviceName, Load, Parameters, Protection, Provenance, StackName, StoreKind};
use crate::algorithm::Algorithm;
use crate::operation::Operation;

/// Version 0.1.0 knew GnuPG's parameter only, and gave every case one. It is still written for all who
/// read it; `parameters` says what it is a parameter of.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseForm {
    device: DeviceName,
    store: StoreKind,
    provenance: Provenance,
    algorithm: Algorithm,
    operation: Operation,
    stack: StackName,
    load: Load,
    protection: Protection,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parameters: Option<Parameters>,
    input_bytes: u32,
    replica: u32,
}

/// The stacks of version 0.1.0 that had a protection to choose.
const PROTECTED: [StackName; 2] = [StackName::AGENT, StackName::GNUPG];

impl From<CaseForm> for Case {
    fn from(form: CaseForm) -> Self {
        let protection = form.protection;
        let legacy = if PROTECTED.contains(&form.stack) {
            Parameters::Gnupg { protection }
        } else {
            Parameters::None
        };
        Self {
            device: form.device,
            store: form.store,
            provenance: form.provenance,
            algorithm: form.algorithm,
            operation: form.operation,
            stack: form.stack,
            parameters: form.parameters.unwrap_or(legacy),
            load: form.load,
            input_bytes: form.input_bytes,
            replica: form.replica,
        }
    }
}

impl From<Case> for CaseForm {
    fn from(case: Case) -> Self {
        Self {
            protection: case.parameters.protection(),
            parameters: Some(case.parameters),
            device: case.device,
            store: case.store,
            provenance: case.provenance,
            algorithm: case.algorithm,
            operation: case.operation,
            stack: case.stack,
            load: case.load,
            input_bytes: case.input_bytes,
            replica: case.replica,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: &str = r#"{"device":"software","store":"software","provenance":"measured",
        "algorithm":"rsa2048","operation":"decrypt","stack":"raw","load":{"concurrency":1,
        "pacing":"closed"},"protection":"none","input_bytes":16,"replica":0}"#;

    #[test]
    fn a_case_of_any_replica_has_a_name() {
        let last = RAW.replace("\"replica\":0", "\"replica\":4294967295");
        let last: Case = serde_json::from_str(&last).unwrap();
        assert_eq!(last.way(), "raw #4294967296");
    }

    #[test]
    fn cases_of_version_0_1_0_get_the_parameters_of_their_stack() {
        let read = |text: &str| serde_json::from_str::<Case>(text).unwrap();
        assert_eq!(read(RAW).parameters, Parameters::None);
        let agent = RAW
            .replace("\"raw\"", "\"agent\"")
            .replace("none", "cached");
        let protection = Protection::Cached;
        assert_eq!(read(&agent).parameters, Parameters::Gnupg { protection });
    }

    #[test]
    fn every_set_of_parameters_survives() {
        let mut case: Case = serde_json::from_str(RAW).unwrap();
        let agents = super::super::SshAgent::ALL.iter();
        let sets = agents.map(|&agent| Parameters::Ssh { agent });
        let kept = Protection::ALL.iter();
        let sets = sets.chain(kept.map(|&protection| Parameters::Gnupg { protection }));
        let libraries = super::super::Library::ALL.iter();
        let sets = sets.chain(libraries.map(|&library| Parameters::Library { library }));
        let ways = super::super::OpenSslWay::ALL.iter();
        let sets = sets.chain(ways.map(|&way| Parameters::OpenSsl { way }));
        let schemes = super::super::Scheme::ALL.iter();
        let sets = sets.chain(schemes.map(|&scheme| Parameters::Scheme { scheme }));
        let exchanges = super::super::KeyExchange::ALL.iter();
        let sets = sets.chain(exchanges.map(|&key_exchange| Parameters::Tls {
            version: super::super::TlsVersion::V1_3,
            key_exchange,
            arrangement: super::super::Arrangement::default(),
        }));
        for parameters in sets.chain([Parameters::None]) {
            case.parameters = parameters;
            let text = serde_json::to_string(&case).unwrap();
            assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case, "{text}");
        }
    }
}
