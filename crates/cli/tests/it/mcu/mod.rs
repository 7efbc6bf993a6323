//! `keymark mcu` as its users call it.

mod firmware;
mod place;
mod predict;
mod storage;
