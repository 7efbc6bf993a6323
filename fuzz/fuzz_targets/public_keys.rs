//! Files in which public keys are looked for, whatever they are, and statements about the keys.

#![no_main]

use std::sync::LazyLock;

use keymark_audit::{Audit, Lists, Places, AuditQuestion, Read, sarif};
use keymark_advice::policy::Policy;
use libfuzzer_sys::fuzz_target;

static QUESTION: LazyLock<AuditQuestion> = LazyLock::new(|| AuditQuestion {
    policies: Policy::all().to_vec(),
    today: "2026-11-24".parse().expect("a day"),
    until: "2035-12-31".parse().ok(),
});

fuzz_target!(|data: &[u8]| {
    let mut read = Read::default();
    read.bytes("file", data);
    let mut lists = Lists::at(Places {
        openssl: "/nonexistent".into(),
        openssh: "/nonexistent".into(),
        badkeys: None,
    });
    let audit = Audit::of(read, &QUESTION, &mut lists);
    serde_json::to_string(&audit.keys).expect("JSON");
    serde_json::to_string(&sarif::log(&audit, "", "")).expect("SARIF");
});
