//! Journals of what was being changed on tokens, as a crash or a hand may have left them.

#![no_main]

use keymark_stores::journal::Content;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(content) = Content::parse(text) else {
        return;
    };
    assert!(content.open().len() <= content.writes.len());
    // What was being written when its keymark died says nothing.
    let ended = text.rfind('\n').map_or("", |end| &text[..=end]);
    let torn = format!("{ended}{{\"undone\":{{\"place\":\"");
    assert_eq!(Content::parse(&torn).as_ref(), Ok(&content));
});
