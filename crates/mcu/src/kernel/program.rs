//! The committed programs, and running one.

use super::{Crt, Kernel, Key, Optimisation, Options, Square, Umaal, Window};
use crate::image::{Image, ImageError};
use crate::instruction::Instruction;
use crate::machine::{Machine, Stop};
use crate::microcontroller::Microcontroller;
use crate::timing::{Pipeline, Retired, Timing, Untimed};

/// Several times what the longest kernel needs: beyond it something is wrong.
const INSTRUCTION_LIMIT: u64 = 10_000_000_000;

macro_rules! elf {
    ($kernel:literal, $step:literal, $opt:literal) => {
        include_bytes!(concat!(
            "../../kernels/elf/",
            $kernel,
            "-",
            $step,
            "-",
            $opt,
            ".elf"
        ))
        .as_slice()
    };
}

macro_rules! variants {
    ($kernel:literal, $umaal:expr, $opt:expr) => {
        match ($umaal, $opt) {
            (Umaal::Off, Optimisation::O2) => elf!($kernel, "umull", "o2"),
            (Umaal::Off, Optimisation::O3) => elf!($kernel, "umull", "o3"),
            (Umaal::Off, Optimisation::Os) => elf!($kernel, "umull", "os"),
            (Umaal::On, Optimisation::O2) => elf!($kernel, "umaal", "o2"),
            (Umaal::On, Optimisation::O3) => elf!($kernel, "umaal", "o3"),
            (Umaal::On, Optimisation::Os) => elf!($kernel, "umaal", "os"),
            (Umaal::Portable, Optimisation::O2) => elf!($kernel, "c", "o2"),
            (Umaal::Portable, Optimisation::O3) => elf!($kernel, "c", "o3"),
            (Umaal::Portable, Optimisation::Os) => elf!($kernel, "c", "os"),
        }
    };
}

/// The results that the default inputs must have, in hexadecimal, as kernels write them
/// (`kernels/expected.py`, which knows nothing of the kernels' arithmetic).
const fn expected(kernel: Kernel) -> &'static str {
    match kernel {
        Kernel::Rsa2048 => include_str!("../../kernels/expected/rsa2048"),
        Kernel::Rsa3072 => include_str!("../../kernels/expected/rsa3072"),
        Kernel::Rsa4096 => include_str!("../../kernels/expected/rsa4096"),
        Kernel::X25519 => include_str!("../../kernels/expected/x25519"),
        Kernel::Ed25519 => include_str!("../../kernels/expected/ed25519"),
    }
}

#[derive(Default)]
struct Markers {
    addresses: Vec<u32>,
    last: u32,
}

impl Timing for Markers {
    fn retire(&mut self, _: &Instruction, retired: &Retired) {
        self.last = retired.address;
    }

    fn marker(&mut self, _: u8) {
        self.addresses.push(self.last);
    }
}

/// Why a kernel gave no result.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what their fields are")]
pub enum KernelError {
    /// It cannot be loaded.
    #[error("{kernel} cannot be loaded into {mcu}: {source}")]
    Image {
        kernel: Kernel,
        mcu: String,
        source: ImageError,
    },
    /// It ended otherwise than with success.
    #[error(
        "{kernel} on {mcu} ended with {stop} after {executed} instructions; it needs 20 KiB of RAM and 64 KiB of flash"
    )]
    Stopped {
        kernel: Kernel,
        mcu: String,
        stop: Stop,
        /// Instructions until then.
        executed: u64,
    },
    /// It computed something else than it should.
    #[error("{kernel} on {mcu} gave a wrong result, so its time means nothing; please report this")]
    WrongResult { kernel: Kernel, mcu: String },
}

impl Kernel {
    /// The program of that variant, as compiled.
    #[must_use]
    pub fn elf(self, options: &Options) -> &'static [u8] {
        match self {
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => {
                variants!("rsa", options.umaal, options.opt)
            }
            Self::X25519 => variants!("x25519", options.umaal, options.opt),
            Self::Ed25519 => variants!("ed25519", options.umaal, options.opt),
        }
    }

    /// The program with these options in it, ready to be loaded.
    ///
    /// # Errors
    /// When the committed file is not what it should be, which a test excludes.
    pub fn image(self, options: &Options) -> Result<Image, ImageError> {
        let mut image = Image::parse(self.elf(options))?;
        if let Some(bits) = self.rsa_bits() {
            let window = match options.window {
                Window::Four => 4,
                Window::Five => 5,
                Window::Six => 6,
            };
            // `struct options` of kernels/rsa/rsa.c.
            let words = [
                bits,
                window,
                u32::from(options.crt == Crt::Recomputed),
                u32::from(options.key == Key::Flash),
                u32::from(options.square == Square::Twice),
            ];
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            image.initialise("options", &bytes)?;
        }
        Ok(image)
    }

    fn not_loaded(self, mcu: &Microcontroller) -> impl Fn(ImageError) -> KernelError + Copy {
        move |source| KernelError::Image {
            kernel: self,
            mcu: mcu.name.clone(),
            source,
        }
    }

    /// The program with these options, for a machine that knows no markers: they are NOPs.
    ///
    /// # Errors
    /// As [`run`](Self::run), which finds the markers.
    pub fn elf_without_markers(
        self,
        mcu: &Microcontroller,
        options: &Options,
    ) -> Result<Vec<u8>, KernelError> {
        const NOP: [u8; 2] = 0xbf00u16.to_le_bytes();
        let of_image = self.not_loaded(mcu);
        let mut markers = Markers::default();
        self.run(mcu, options, &mut markers)?;
        let mut image = self.image(options).map_err(of_image)?;
        for address in markers.addresses {
            image.replace(address, &NOP).map_err(of_image)?;
        }
        Ok(image.to_elf())
    }

    /// Runs it with its default input to the end, and checks its result.
    ///
    /// # Errors
    /// When it does not fit, ends badly, or its result is wrong.
    pub fn run<T: Timing>(
        self,
        mcu: &Microcontroller,
        options: &Options,
        timing: &mut T,
    ) -> Result<Machine, KernelError> {
        let of_image = self.not_loaded(mcu);
        let image = self.image(options).map_err(of_image)?;
        let mut machine = mcu.load(&image).map_err(of_image)?;
        let stop = machine.run(timing, INSTRUCTION_LIMIT);
        if stop != Stop::Exit(0) {
            return Err(KernelError::Stopped {
                kernel: self,
                mcu: mcu.name.clone(),
                stop,
                executed: machine.executed(),
            });
        }
        let result = String::from_utf8_lossy(machine.output());
        let expected = expected(self).trim();
        if !result.starts_with(expected) {
            return Err(KernelError::WrongResult {
                kernel: self,
                mcu: mcu.name.clone(),
            });
        }
        Ok(machine)
    }

    /// Runs it functionally.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn execute(self, mcu: &Microcontroller, options: &Options) -> Result<Machine, KernelError> {
        self.run(mcu, options, &mut Untimed)
    }

    /// Runs it under the part's timing model.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn time(self, mcu: &Microcontroller, options: &Options) -> Result<Pipeline, KernelError> {
        let mut pipeline = Pipeline::new(mcu.core.timing(), mcu.flash, &mcu.layout);
        self.run(mcu, options, &mut pipeline)?;
        Ok(pipeline)
    }

    /// What a phase of it is called.
    #[must_use]
    pub const fn phase_name(self, number: u8) -> &'static str {
        match (self.rsa_bits(), number) {
            (Some(_), 1) => "CRT parameters",
            (Some(_), 2) => "exponentiation mod p",
            (Some(_), 3) => "exponentiation mod q",
            (Some(_), 4) => "recombination",
            (None, 1) => "operation",
            _ => "outside",
        }
    }
}
