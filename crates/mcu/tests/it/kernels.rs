//! Every committed kernel in every variant computes what it should.

use keymark_mcu::kernel::{Crt, Kernel, Optimisation, Options, Square, Umaal};
use keymark_mcu::machine::Stop;
use keymark_mcu::microcontroller::Microcontroller;
use keymark_mcu::timing::{Pipeline, Untimed};

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
                kernel.run(&mcu, &options, &mut Untimed).unwrap();
            }
        }
    }
}

#[test]
fn every_option_of_rsa_gives_the_same_result() {
    let mcu = part(Umaal::Off);
    for &square in Square::ALL {
        for &crt in Crt::ALL {
            let options = Options {
                crt,
                square,
                ..Options::for_core(mcu.core)
            };
            let ran = Kernel::Rsa2048.run(&mcu, &options, &mut Untimed);
            ran.unwrap();
        }
    }
}

#[test]
fn where_a_run_is_cut_changes_nothing() {
    for name in ["stm32f103", "stm32l432", "stm32f405", "cortex-m3"] {
        let mcu = Microcontroller::find(name).unwrap();
        let options = Options::for_core(mcu.core);
        let mut whole = Pipeline::new(mcu.core.timing(), mcu.flash, &mcu.layout);
        let mut cut = whole.clone();
        let ran = Kernel::Ed25519.run(&mcu, &options, &mut whole);
        ran.unwrap();
        let image = Kernel::Ed25519.image(&options).unwrap();
        let mut machine = mcu.load(&image).unwrap();
        while machine.run(&mut cut, 41) == Stop::Limit {}
        assert_eq!(cut.now(), whole.now(), "{name}");
        assert_eq!(cut.account(), whole.account(), "{name}");
        assert_eq!(cut.phases(), whole.phases(), "{name}");
        assert_eq!(cut.account().cycles(), cut.now(), "{name}");
    }
}
