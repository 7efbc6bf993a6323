//! Flash, designs and simulations.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod nor;
mod power_loss;
mod simulate;

use keymark_flash::geometry::Geometry;
use keymark_flash::nor::Flash;

fn geometry(name: &str) -> Geometry {
    Geometry::find(name).unwrap()
}

fn flash(name: &str) -> Flash {
    Flash::new(&geometry(name))
}
