//! Programs, which users compile: any file is read as one, and what can be loaded is executed and timed.

#![no_main]

use keymark_mcu::image::Image;
use keymark_mcu::machine::Stop;
use keymark_mcu::microcontroller::Microcontroller;
use keymark_mcu::timing::Pipeline;
use libfuzzer_sys::fuzz_target;

const INSTRUCTIONS: u64 = 20_000;

fuzz_target!(|data: &[u8]| {
    let Ok(image) = Image::parse(data) else {
        return;
    };
    for label in image.code() {
        assert!(!image.place(label.address).is_empty());
    }
    let part = Microcontroller::find("stm32f103").expect("it is shipped");
    let Ok(mut machine) = image.machine(&part.layout) else {
        return;
    };
    let mut pipeline = Pipeline::new(part.timing, part.flash, &part.layout);
    let stop = machine.run(&mut pipeline, INSTRUCTIONS);
    assert!(machine.executed() <= INSTRUCTIONS);
    if stop == Stop::Limit {
        assert_eq!(machine.executed(), INSTRUCTIONS);
    }
    assert!(
        pipeline.now() >= machine.executed() / 2,
        "instructions take time"
    );
    let _ = (pipeline.now(), pipeline.account(), pipeline.phases());
});
