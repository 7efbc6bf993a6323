//! Profiles of devices, which users write and share.

#![no_main]

use keymark_bench::profile::{Profile, Sampler};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(profile) = Profile::parse(text, "fuzzed") else {
        return;
    };
    let mut sampler = Sampler::new(0);
    for service in profile.services.values() {
        let _ = (service.time.mean(), sampler.draw(&service.time));
    }
    let written = profile.to_toml().expect("what was read can be written");
    let again = Profile::parse(&written, "written").expect("and read again");
    // Decimal seconds have no exact nanoseconds: the second writing is the first one's.
    assert_eq!(again.to_toml().expect("as before"), written);
});
