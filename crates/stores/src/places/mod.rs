//! Places of keymark's programs and modules: private directories, the processes in them, and
//! how programs are run.

pub mod keymark_process;
pub mod library;
pub mod memory_file;
pub mod private_dir;
pub mod process;
pub mod program;
pub mod watchdog;
