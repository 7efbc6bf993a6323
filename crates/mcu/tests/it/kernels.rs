//! Every committed kernel in every variant computes what it should.

use keymark_mcu::kernel::{Crt, Kernel, Key, Optimisation, Options, Square, Umaal, Window};

use crate::part;

#[test]
fn every_program_gives_the_expected_result() {
    for kernel in [Kernel::Rsa2048, Kernel::X25519, Kernel::Ed25519] {
        for &umaal in Umaal::ALL {
            for &opt in Optimisation::ALL {
                let mcu = part(umaal);
                let options = Options {
                    umaal,
                    opt,
                    ..Options::for_core(mcu.core)
                };
                kernel.execute(&mcu, &options).unwrap();
            }
        }
    }
}

#[test]
fn every_option_of_rsa_gives_the_same_result() {
    let mcu = part(Umaal::Off);
    for &square in Square::ALL {
        for (&crt, &key) in Crt::ALL.iter().zip(Key::ALL) {
            for &window in Window::ALL {
                let options = Options {
                    window,
                    crt,
                    key,
                    square,
                    ..Options::for_core(mcu.core)
                };
                Kernel::Rsa2048.execute(&mcu, &options).unwrap();
            }
        }
    }
}
