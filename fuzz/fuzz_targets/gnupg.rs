//! What gpg and its agent print.

#![no_main]

use keymark_bench::operation::Operation;
use keymark_native::gcrypt::sexp::Sexp;
use keymark_stacks::gnupg::listing::{chosen, listed_keys};
use keymark_stacks::gnupg::status::{complaint, configured, has, status_lines};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&parser, data)) = data.split_first() else {
        return;
    };
    match parser % 2 {
        0 => expression(data),
        _ => text(&String::from_utf8_lossy(data)),
    }
});

fn expression(data: &[u8]) {
    let Ok(expression) = Sexp::parse(data) else {
        return;
    };
    let _ = (expression.find("rsa"), expression.value("s"));
    let again = Sexp::parse(&expression.canonical());
    assert_eq!(again.as_ref(), Ok(&expression));
}

fn text(text: &str) {
    let keywords = status_lines(text).map(|(keyword, _)| keyword);
    for keyword in keywords {
        assert!(has(text, keyword));
    }
    let keys = listed_keys(text);
    for operation in [Operation::Sign, Operation::Decrypt] {
        if let Ok(key) = chosen(&keys, operation) {
            assert!(key.flaw.is_none() && keys.contains(key));
        }
    }
    let _ = (complaint(text), configured(text, "curve"));
}
