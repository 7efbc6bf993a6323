//! Logins signed by a card: its owner's finger, and where the time goes.

use std::sync::Arc;
use std::time::Duration;

use keymark_bench::case::Case;
use keymark_bench::error::Error;
use keymark_bench::operation::Operation;
use keymark_bench::parts::PartSums;
use keymark_bench::workload::{Calculates, Input, KeyHandle, Performed, Workload};

use crate::gnupg::key_home::KeyHome;
use crate::gnupg::meter::Meter;

/// The same work, with the parts of each operation measured where one worker does it alone.
pub(super) fn metered(workload: Workload, case: &Case, home: &Arc<KeyHome>) -> Workload {
    let handle = |handle| -> Box<dyn KeyHandle> {
        Box::new(OnCard {
            handle,
            operation: case.operation,
            meter: home.meter(case),
            home: Arc::clone(home),
        })
    };
    Workload {
        crew: workload.crew.wrapped(handle),
        ..workload
    }
}

struct OnCard {
    handle: Box<dyn KeyHandle>,
    operation: Operation,
    meter: Option<Arc<Meter>>,
    home: Arc<KeyHome>,
}

impl KeyHandle for OnCard {
    fn arm(&mut self, input: &Input) -> Result<(), Error> {
        self.handle.arm(input)?;
        self.home.ask_for_touch(self.operation);
        if let Some(meter) = &self.meter {
            meter.begin();
        }
        Ok(())
    }

    fn perform(&mut self, input: &Input, output: &mut [u8]) -> Result<Performed, Error> {
        self.handle.perform(input, output)
    }

    fn calculates(&self) -> Calculates {
        Calculates::Others
    }

    fn parts(&mut self, latency: Duration, into: &mut PartSums) {
        if let Some(meter) = &self.meter {
            meter.end(latency, None, into);
        }
    }
}
