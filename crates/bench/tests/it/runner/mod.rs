//! The runner over the fake stack, on a clock that only the fake moves: exact, whatever the machine.

mod endings;
mod loads;
mod open_loop;
mod outlook;
mod processes;
mod queue;
mod rules;
mod setup;
