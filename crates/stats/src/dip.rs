//! The dip: the distance of a distribution from the nearest unimodal one.
//!
//! Hartigan & Hartigan, "The Dip Test of Unimodality", 1985, §§2-4; the algorithm is AS 217 (P. M. Hartigan 1985) with the
//! later corrections to its start and loop (see M. Maechler, R package `diptest`).

/// The dip of an ascending sample; 1/(2n) at least, 0 for an empty one.
///
/// Linear time in practice: the modal interval shrinks at every cycle.
pub(crate) fn dip(x: &[f64]) -> f64 {
    let n = x.len();
    if n == 0 {
        return 0.0;
    }
    // In units of 1/(2n) until the end, as in AS 217.
    let mut dip = 1.0;
    let (mut low, mut high) = (0, n - 1);
    if x[low] < x[high] {
        let (minorant, majorant) = (convex_links(x), concave_links(x));
        loop {
            let gcm = follow(&minorant, high, low);
            let lcm = follow(&majorant, low, high);
            let (d, ig, ih) = widest_gap(x, &gcm, &lcm);
            if d < dip {
                break;
            }
            dip = dip.max(gcm_dip(x, &gcm[ig..])).max(lcm_dip(x, &lcm[ih..]));
            if low == gcm[ig] && high == lcm[ih] {
                break;
            }
            (low, high) = (gcm[ig], lcm[ih]);
        }
    }
    dip / (2.0 * n as f64)
}

/// For each point, the previous touching point of the greatest convex minorant
/// of the empirical distribution up to it.
fn convex_links(x: &[f64]) -> Vec<u32> {
    let mut links = vec![0_u32; x.len()];
    for j in 1..x.len() {
        let mut at = j - 1;
        while at > 0 {
            let before = links[at] as usize;
            if (x[j] - x[at]) * ((at - before) as f64) < (x[at] - x[before]) * (j - at) as f64 {
                break;
            }
            at = before;
        }
        links[j] = narrow(at);
    }
    links
}

/// For each point, the next touching point of the least concave majorant of
/// the empirical distribution from it on: the minorant of the mirrored one.
fn concave_links(x: &[f64]) -> Vec<u32> {
    let mirrored: Vec<f64> = x.iter().rev().map(|x| -x).collect();
    let (last, links) = (narrow(x.len() - 1), convex_links(&mirrored));
    links.into_iter().rev().map(|link| last - link).collect()
}

/// Samples of more than 2^32 durations do not fit a record either.
fn narrow(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}

/// A run of touching points of one envelope, as indices into the sample.
fn follow(links: &[u32], from: usize, to: usize) -> Vec<usize> {
    let mut points = vec![from];
    let mut at = from;
    while at != to {
        at = links[at] as usize;
        points.push(at);
    }
    points
}

/// The largest distance between the two envelopes, and where in the minorant
/// (descending) and the majorant (ascending) it is reached.
fn widest_gap(x: &[f64], g: &[usize], l: &[usize]) -> (f64, usize, usize) {
    let (mut ig, mut ih) = (g.len() - 1, l.len() - 1);
    if g.len() == 2 && l.len() == 2 {
        return (1.0, ig, ih);
    }
    let mut d = 0.0;
    let (mut ix, mut iv) = (g.len() - 2, 1);
    loop {
        let (gx, lv) = (g[ix], l[iv]);
        if gx > lv {
            // The next vertex is the majorant's: measure there.
            let before = g[ix + 1];
            let line = (x[lv] - x[before]) * (gx - before) as f64 / (x[gx] - x[before]);
            let dx = lv as f64 - before as f64 + 1.0 - line;
            iv += 1;
            if dx >= d {
                (d, ig, ih) = (dx, ix + 1, iv - 1);
            }
        } else {
            // The next vertex is the minorant's.
            let before = l[iv - 1];
            let line = (x[gx] - x[before]) * (lv - before) as f64 / (x[lv] - x[before]);
            let dx = line - (gx as f64 - before as f64 - 1.0);
            if dx >= d {
                (d, ig, ih) = (dx, ix, iv);
            }
            ix = ix.saturating_sub(1);
        }
        iv = iv.min(l.len() - 1);
        if g[ix] == l[iv] {
            return (d, ig, ih);
        }
    }
}

/// Largest distance of the distribution above the minorant's chords.
fn gcm_dip(x: &[f64], descending: &[usize]) -> f64 {
    let chord = |w: &[usize]| chord_max(x, w[1], w[0], |rank, line| rank + 1.0 - line);
    descending.windows(2).map(chord).fold(0.0, f64::max)
}

/// Largest distance of the distribution below the majorant's chords.
fn lcm_dip(x: &[f64], ascending: &[usize]) -> f64 {
    let chord = |w: &[usize]| chord_max(x, w[0], w[1], |rank, line| line - (rank - 1.0));
    ascending.windows(2).map(chord).fold(0.0, f64::max)
}

fn chord_max(x: &[f64], begin: usize, end: usize, gap: impl Fn(f64, f64) -> f64) -> f64 {
    if end - begin <= 1 || x[begin] >= x[end] {
        return 1.0;
    }
    let slope = (end - begin) as f64 / (x[end] - x[begin]);
    let at = |j: usize| gap((j - begin) as f64, (x[j] - x[begin]) * slope);
    (begin..=end).map(at).fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::dip;

    proptest! {
        #[test]
        fn any_sample_has_a_dip_in_its_range(
            mut x in prop::collection::vec(0..1_000_u16, 2..100)
        ) {
            x.sort_unstable();
            let x: Vec<f64> = x.into_iter().map(f64::from).collect();
            let least = 0.5 / x.len() as f64;
            prop_assert!((least - 1e-9..=0.25 + 1e-9).contains(&dip(&x)));
        }
    }

    #[test]
    fn equally_spaced_points_have_the_smallest_dip() {
        for n in [1_u8, 2, 3, 4, 5, 10, 100] {
            let x: Vec<f64> = (0..n).map(f64::from).collect();
            assert!((dip(&x) - 0.5 / f64::from(n)).abs() < 1e-12, "{n}");
        }
    }

    #[test]
    fn two_masses() {
        // The dip of masses a and 1 − a far apart is min(a, 1 − a)/2.
        let mut x = vec![0.0; 30];
        x.extend([1.0; 30]);
        assert!((dip(&x) - 0.25).abs() < 1e-12);
        let mut x = vec![0.0; 80];
        x.extend([1.0; 20]);
        assert!((dip(&x) - 0.1).abs() < 0.01, "{}", dip(&x));
        assert!((dip(&[3.0; 8]) - 1.0 / 16.0).abs() < 1e-12);
    }

    #[test]
    fn four_points_by_hand() {
        // 0, ε, 1, 1+ε: the dip is 1/4·(1/2 + …) → between 1/8 and 1/4, towards 1/4 as ε → 0.
        assert!((dip(&[0.0, 1e-9, 1.0, 1.0 + 1e-9]) - 0.25).abs() < 1e-6);
    }

    #[test]
    fn mirrored_sample_has_the_same_dip() {
        let x: Vec<f64> = (0..200).map(|i| f64::from((i * i * 37) % 1009)).collect();
        let mut up = x.clone();
        up.sort_by(f64::total_cmp);
        let mut down: Vec<f64> = x.iter().map(|v| -v).collect();
        down.sort_by(f64::total_cmp);
        assert!((dip(&up) - dip(&down)).abs() < 1e-12);
    }
}
