//! libkeymark_pcsc.so: the functions of PC/SC that scdaemon loads (its option `pcsc-driver`).
//! Calls go to a card that keymark serves, or to the real library; either way they can be taken
//! down, with what each took and without any of their data.

mod abi;
mod memory;
mod reader;
mod served;
mod trace;
mod types;
