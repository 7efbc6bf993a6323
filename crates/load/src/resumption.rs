//! Resumed sessions: the share that is asked for, and which connections resume.

use std::str::FromStr;

use derive_more::Display;

/// Share of connections that resume a session, in whole percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Display)]
pub struct ResumedShare(u8);

impl ResumedShare {
    /// Full handshakes alone.
    pub const NONE: Self = Self(0);

    /// Returns whether that many resumed sessions are the share: within four standard deviations of the binomial
    /// distribution, and one percent.
    pub fn is_met(self, resumed: u64, all: u64) -> bool {
        const DEVIATIONS: f64 = 4.0;
        const SLACK: f64 = 0.01;
        let (share, all) = (f64::from(self.0) / 100.0, all.max(1) as f64);
        let deviation = (share * (1.0 - share) / all).sqrt();
        (resumed as f64 / all - share).abs() <= DEVIATIONS * deviation + SLACK
    }
}

impl FromStr for ResumedShare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_suffix('%').unwrap_or(text).parse().ok();
        let percent = number.filter(|percent| *percent <= 100).map(Self);
        percent.ok_or_else(|| {
            format!("a share of resumed sessions must be from 0% to 100%, not '{text}'")
        })
    }
}

/// Turns of one thread's connections, spread evenly. Missing sessions are made up for.
#[derive(Debug)]
pub(crate) struct ResumptionTurns {
    share: ResumedShare,
    begun: u64,
    resumed: u64,
}

impl ResumptionTurns {
    pub(crate) const fn of(share: ResumedShare) -> Self {
        Self {
            share,
            begun: 0,
            resumed: 0,
        }
    }

    /// Returns whether the next connection is to resume a session.
    pub(crate) fn is_next_resumed(&self) -> bool {
        (self.resumed + 1) * 100 <= u64::from(self.share.0) * (self.begun + 1)
    }

    pub(crate) fn begin(&mut self, is_offered: bool) {
        self.begun += 1;
        self.resumed += u64::from(is_offered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(text: &str) -> ResumedShare {
        text.parse().unwrap()
    }

    #[test]
    fn a_share_is_in_whole_percent() {
        assert_eq!(share("80%"), share("80"));
        assert_eq!(share("100%").to_string(), "100");
        assert_eq!(share("0"), ResumedShare::NONE);
        for wrong in ["101%", "-1%", "abc", "", "%", "0.5%", "300%"] {
            let said = wrong.parse::<ResumedShare>().unwrap_err();
            assert!(said.contains("0% to 100%"), "{wrong}: {said}");
        }
    }

    #[test]
    fn turns_are_even_and_make_up_for_missing_sessions() {
        let mut turns = ResumptionTurns::of(share("80%"));
        let mut take = |has_session: bool| {
            let resumes = turns.is_next_resumed() && has_session;
            turns.begin(resumes);
            resumes
        };
        let first: Vec<bool> = (0..10).map(|_| take(true)).collect();
        let fifth = [false, true, true, true, true];
        assert_eq!(first, [fifth, fifth].concat());
        // Eight users come before the first ticket does.
        assert_eq!((0..8).filter(|_| take(false)).count(), 0);
        let later = (0..182).filter(|_| take(true)).count();
        assert_eq!(8 + later, 160);
        let mut never = ResumptionTurns::of(ResumedShare::NONE);
        never.begin(false);
        assert!(!never.is_next_resumed());
    }

    #[test]
    fn a_share_is_met_within_its_chance() {
        for (asked, resumed, all, met) in [
            ("80%", 800, 1000, true),
            ("80%", 750, 1000, true),
            ("80%", 700, 1000, false),
            ("80%", 0, 1000, false),
            ("80%", 13, 20, true),
            ("100%", 1000, 1000, true),
            ("100%", 995, 1000, true),
            ("100%", 900, 1000, false),
            ("0%", 0, 1000, true),
        ] {
            assert_eq!(share(asked).is_met(resumed, all), met, "{asked} {resumed}");
        }
    }
}
