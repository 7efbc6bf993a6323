//! relic's answers: what it puts into a file in place of what stands there (its `lib/binpatch`).

use keymark_load::Expectation;

/// Before the patches: version and their number, 32 bits each.
const HEAD: usize = 8;
/// Offset, old and new length of one.
const ENTRY: usize = 16;

/// What is put in, in the order of the places.
pub(super) fn pieces(answer: &[u8]) -> Result<Vec<&[u8]>, Expectation> {
    let number = |at: usize| {
        let octets = answer.get(at..)?.first_chunk()?;
        usize::try_from(u32::from_be_bytes(*octets)).ok()
    };
    let all = || {
        let count = number(4)?;
        let mut rest = answer.get(HEAD + count.checked_mul(ENTRY)?..)?;
        let mut pieces = Vec::new();
        for patch in 0..count {
            let (piece, behind) = rest.split_at_checked(number(HEAD + patch * ENTRY + 12)?)?;
            pieces.push(piece);
            rest = behind;
        }
        Some(pieces)
    };
    all().ok_or(Expectation::Form)
}
