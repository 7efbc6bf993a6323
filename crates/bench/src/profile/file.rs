//! Profiles as TOML files.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::Assumed;
use crate::outside::visible::{excerpt, located};
use crate::store::Capability;
use serde::{Deserialize, Serialize};

use super::{Network, Profile, ProfileStore, Service, ServiceTime};

/// Bytes of the product's name, which every record of a twin has.
const PRODUCT: usize = 200;
/// The only version of the format so far.
const SCHEMA: u32 = 1;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    schema: u32,
    name: String,
    #[serde(default)]
    store: ProfileStore,
    product: String,
    source: String,
    #[serde(default)]
    note: String,
    yubikey_version: Option<String>,
    #[serde(default)]
    service: Vec<ProfileEntry>,
    verify: Option<Time>,
    network: Option<Network>,
}

#[derive(Deserialize, Serialize)]
struct ProfileEntry {
    #[serde(flatten)]
    capability: Capability,
    #[serde(flatten)]
    time: Time,
    published_mean_s: Option<f64>,
    assumed: Option<Assumed>,
}

#[derive(Default, Deserialize, Serialize)]
struct Time {
    constant_s: Option<f64>,
    quantiles_s: Option<Vec<f64>>,
}

pub(super) fn parse(text: &str) -> Result<Profile, String> {
    let file: ProfileFile = toml::from_str(text)
        .map_err(|error: toml::de::Error| located(text, error.span(), error.message()))?;
    if file.schema != SCHEMA {
        return Err(format!(
            "it has version {}, but this keymark reads {SCHEMA}; update keymark",
            file.schema
        ));
    }
    if file.product.len() > PRODUCT {
        let length = file.product.len();
        return Err(format!("product: {length} bytes; the limit is {PRODUCT}"));
    }
    let mut services = BTreeMap::new();
    // What is assumed is taken from what is not.
    let (assumed, measured): (Vec<_>, Vec<_>) = file
        .service
        .into_iter()
        .partition(|entry| entry.assumed.is_some());
    for entry in measured.into_iter().chain(assumed) {
        let Capability {
            algorithm,
            operation,
        } = entry.capability;
        let what = format!("{algorithm} {operation}");
        if !algorithm.has(operation) {
            return Err(format!("{what}: {algorithm} has no such operation"));
        }
        let service = service(&entry, &services).map_err(|reason| format!("{what}: {reason}"))?;
        if services.insert(entry.capability, service).is_some() {
            return Err(format!("{what} is given twice"));
        }
    }
    Ok(Profile {
        yubikey_version: file.yubikey_version.as_deref().map(version).transpose()?,
        name: checked(file.name)?,
        store: file.store,
        product: file.product,
        source: file.source,
        note: file.note,
        services,
        network: network(file.network, file.store)?,
        verify: file
            .verify
            .as_ref()
            .map(time)
            .transpose()
            .map_err(|reason| format!("verify: {reason}"))?,
    })
}

fn network(network: Option<Network>, store: ProfileStore) -> Result<Network, String> {
    let Some(network) = network else {
        return Ok(Network::default());
    };
    let reason = match store {
        ProfileStore::Pkcs11 => network.contradiction(),
        ProfileStore::OpenpgpCard => Some("only a token (store = \"pkcs11\") has one"),
    };
    reason.map_or(Ok(network), |reason| Err(format!("network: {reason}")))
}

/// The entry's own time, or that of the operation that it is assumed to be.
fn service(entry: &ProfileEntry, known: &BTreeMap<Capability, Service>) -> Result<Service, String> {
    let Some(assumed) = entry.assumed else {
        return Ok(Service {
            time: time(&entry.time)?,
            published: entry.published_mean_s.map(published).transpose()?,
            assumed: None,
        });
    };
    if !assumed.holds_for(entry.capability) {
        return Err(format!(
            "assumed '{assumed}' is only allowed for signing and authenticating with RSA"
        ));
    }
    if entry.time.constant_s.is_some()
        || entry.time.quantiles_s.is_some()
        || entry.published_mean_s.is_some()
    {
        return Err(format!(
            "an assumed time ('{assumed}') must have no figures of its own"
        ));
    }
    let source = Capability {
        operation: assumed.operation(),
        ..entry.capability
    };
    let time = known.get(&source).map(|service| service.time.clone());
    Ok(Service {
        time: time.ok_or_else(|| format!("assumed '{assumed}', but that has no time"))?,
        published: None,
        assumed: Some(assumed),
    })
}

/// Three numbers that Yubico's command can give: two decimal digits each.
fn version(text: &str) -> Result<[u8; 3], String> {
    let numbers: Option<Vec<u8>> = text.split('.').map(|number| number.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| numbers.iter().all(|number| *number < 100));
    numbers
        .and_then(|numbers| numbers.try_into().ok())
        .ok_or_else(|| {
            let text = excerpt(text);
            format!("yubikey_version: '{text}' is not a version such as 4.3.5")
        })
}

/// A name that is valid in `twin:NAME` and in a table.
fn checked(name: String) -> Result<String, String> {
    let usable = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.is_empty() && name.chars().all(usable) {
        Ok(name)
    } else {
        Err(format!(
            "name: '{}' is not one or more letters, digits, '-', '_' and '.'",
            excerpt(&name)
        ))
    }
}

fn published(seconds: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("published_mean_s: {error}"))
}

fn time(time: &Time) -> Result<ServiceTime, String> {
    match (time.constant_s, &time.quantiles_s) {
        (Some(seconds), None) => ServiceTime::constant(seconds),
        (None, Some(seconds)) => ServiceTime::quantiles(seconds),
        _ => return Err("give either constant_s or quantiles_s".to_owned()),
    }
    .map_err(|error| error.to_string())
}

pub(super) fn write(profile: &Profile) -> Result<String, String> {
    let file = ProfileFile {
        schema: SCHEMA,
        name: checked(profile.name.clone())?,
        store: profile.store,
        product: profile.product.clone(),
        source: profile.source.clone(),
        note: profile.note.clone(),
        yubikey_version: profile
            .yubikey_version
            .map(|[major, minor, patch]| format!("{major}.{minor}.{patch}")),
        service: profile
            .services
            .iter()
            .map(|(capability, service)| ProfileEntry {
                capability: *capability,
                time: match service.assumed {
                    None => written(&service.time),
                    Some(_) => Time::default(),
                },
                published_mean_s: service.published.map(|mean| mean.as_secs_f64()),
                assumed: service.assumed,
            })
            .collect(),
        verify: profile.verify.as_ref().map(written),
        network: (profile.network != Network::default()).then(|| profile.network.clone()),
    };
    toml::to_string(&file).map_err(|error| error.to_string())
}

fn written(time: &ServiceTime) -> Time {
    match time {
        ServiceTime::Constant(time) => Time {
            constant_s: Some(time.as_secs_f64()),
            quantiles_s: None,
        },
        ServiceTime::Quantiles(quantiles) => Time {
            constant_s: None,
            quantiles_s: Some(quantiles.iter().map(Duration::as_secs_f64).collect()),
        },
    }
}

#[cfg(test)]
mod tests {
    use keymark_testkit::assert_says;

    use super::*;
    use crate::profile::{Quota, QuotaError};

    const HEAD: &str = "schema = 1\nname = 'x'\nproduct = 'X'\nsource = 'here'\n";

    #[test]
    fn each_mistake_is_named() {
        for (key, time, expected) in [
            ("rsa2049 sign", "constant_s=1.0", "rsa2048"),
            ("cv25519 sign", "constant_s=1.0", "no such operation"),
            ("ed25519 sign", "", "either constant_s or quantiles_s"),
            ("ed25519 sign", "constant_s=-1.0", "a time must be"),
            ("ed25519 sign", "quantiles_s=[2.0,1.0]", "ascending"),
            ("rsa2048 sign", "assumed='as decrypt'", "no time"),
            ("ed25519 sign", "assumed='as decrypt'", "with RSA"),
            (
                "rsa2048 sign",
                "assumed='as decrypt'\nconstant_s=1.0",
                "figures of its own",
            ),
            ("rsa2048 sign", "assumed='by me'", "as decrypt"),
        ] {
            let (algorithm, operation) = key.split_once(' ').unwrap();
            let service = format!(
                "{HEAD}[[service]]\nalgorithm='{algorithm}'\noperation='{operation}'\n{time}\n"
            );
            assert_says(&parse(&service).unwrap_err(), [expected]);
        }
        let twice =
            "[[service]]\nalgorithm='ed25519'\noperation='sign'\nconstant_s=1.0\n".repeat(2);
        for (rest, expected) in [
            (&*twice, "twice"),
            ("yubikey_version = '4.3'", "yubikey_version"),
            ("yubikey_version = '4.3.100'", "4.3.100"),
            ("wear = 3", "wear"),
            ("[network]\nround_trip_s = 0.02", "only a token"),
        ] {
            assert_says(&parse(&format!("{HEAD}{rest}")).unwrap_err(), [expected]);
        }
        for name in ["''", "'a b'", "'a,b'"] {
            let said = parse(&HEAD.replace("'x'", name)).unwrap_err();
            assert_says(&said, ["letters, digits"]);
        }
        let long = parse(&HEAD.replace("'X'", &format!("'{}'", "X".repeat(201)))).unwrap_err();
        assert_says(&long, ["201 bytes; the limit is 200"]);
        let newer = parse(&HEAD.replace('1', "2")).unwrap_err();
        assert_says(&newer, ["update keymark"]);
    }

    #[test]
    fn each_mistake_about_a_network_is_named() {
        for (body, expected) in [
            ("round_trip_s = -0.02", "line 7: a time must be"),
            ("round_trip_s = inf", "line 7: a time must be"),
            ("login_s = nan", "line 7: a time must be"),
            ("round_trip_s = 0", "line 7: a time must be"),
            ("round_trip_s = [0.03, 0.01]", "ascending"),
            ("round_trip_s = [0.03]", "ascending"),
            ("round_trip_s = 'fast'", "line 7"),
            ("round_trip_s = 0.1\nround_trip_s = 0.2", "duplicate key"),
            ("quota_per_s = 0", "line 7: 0 is not a rate"),
            ("quota_per_s = -5.0", "line 7: -5 is not a rate"),
            ("quota_per_s = 1e10", "line 7: 10000000000 is not"),
            ("quota_per_s = 100\nquota_burst = 0", "nonzero"),
            ("quota_per_s = 100\nquota_burst = 0.5", "0.5"),
            ("quota_burst = 5", "need a quota_per_s"),
            ("quota_error = 'CKR_DEVICE_ERROR'", "need a quota_per_s"),
            ("quota_per_s = 1\nquota_error = 'CKR_OK'", "CKR_OK"),
            ("sessions = 0", "nonzero"),
            ("latency_s = 1", "latency_s"),
        ] {
            let text = format!("{HEAD}store = 'pkcs11'\n[network]\n{body}\n");
            let said = parse(&text).map(|_| ()).unwrap_err();
            assert!(said.contains(expected), "{body}: {said}");
        }
    }

    #[test]
    fn a_network_survives_its_file() {
        let text = format!(
            "{HEAD}store = 'pkcs11'\n[verify]\nconstant_s=0.8\n[network]\nround_trip_s = [0.01, 0.02, 0.03]\nopen_session_s = 1\n\
             login_s = 0.5\nfind_objects_s = 0.1\nsessions = 7\nquota_per_s = 3\nquota_burst = 4\n\
             quota_error = 'CKR_FUNCTION_REJECTED'\n"
        );
        let profile = parse(&text).unwrap();
        let verify = profile.verify.as_ref().map(ServiceTime::mean);
        assert_eq!(verify, Some(Duration::from_millis(800)));
        let network = &profile.network;
        let mean = network.round_trip.as_ref().map(ServiceTime::mean);
        assert_eq!(mean, Some(Duration::from_millis(20)));
        assert_eq!(network.sessions.map(u32::from), Some(7));
        let interval = Duration::from_nanos(333_333_333);
        assert_eq!(network.quota, Some(Quota(interval)));
        assert_eq!(network.quota_burst.map(u32::from), Some(4));
        assert_eq!(network.quota_error, Some(QuotaError::FunctionRejected));
        assert_eq!(parse(&write(&profile).unwrap()).unwrap(), profile);
    }
}
