//! What stands in the way of handing calls on.

use std::process::Command;

use keymark_shim_protocol::pkcs11::settings::Settings;

use crate::world::World;

/// What the client is told, which gets no module.
fn refusal(world: &World, environment: &[(&str, &str)]) -> String {
    let mut client = world.client((1, 1), 1, &["sign"]);
    let output = client.envs(environment.iter().copied()).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("C_GetFunctionList: 0x5"), "{said}");
    said
}

#[test]
fn without_a_module_to_hand_calls_to_it_says_what_is_missing() {
    let mut world = World::new();
    world.set(Settings::default());
    let said = refusal(&world, &[]);
    assert!(said.contains("KEYMARK_PKCS11_MODULE is not set"), "{said}");
    for (module, expected) in [
        ("/nonexistent.so", "/nonexistent.so: cannot open"),
        ("/etc/passwd", "invalid ELF header"),
        ("libm.so.6", "C_GetFunctionList"),
    ] {
        let said = refusal(&world, &[("KEYMARK_PKCS11_MODULE", module)]);
        assert!(said.contains(expected), "{said}");
    }
    let own = world.module.display().to_string();
    let said = refusal(&world, &[("KEYMARK_PKCS11_MODULE", &own)]);
    assert!(said.contains("it is this library itself"), "{said}");
}

#[test]
fn settings_that_make_no_sense_are_named() {
    let world = World::new();
    std::fs::write(Settings::beside(&world.module), "modul = 'x'").unwrap();
    let said = refusal(&world, &[]);
    assert!(
        said.contains("keymark.so.toml") && said.contains("modul"),
        "{said}"
    );
    let world = World::new();
    let said = refusal(&world, &[("KEYMARK_PKCS11_TWIN", "no-such-device")]);
    assert!(
        said.contains("no profile is called 'no-such-device'"),
        "{said}"
    );
}

#[test]
fn a_program_with_threads_is_told_to_set_the_modules_variables_itself() {
    let world = World::new();
    // Threads before the module is loaded: what the client does with one that it has inherited.
    let program = "import threading, time, ctypes, sys\n\
                   threading.Thread(target=time.sleep, args=(1,), daemon=True).start()\n\
                   module = ctypes.CDLL(sys.argv[1])\n\
                   functions = ctypes.POINTER(ctypes.c_void_p)()\n\
                   assert module.C_GetFunctionList(ctypes.byref(functions)) == 0\n\
                   initialize = ctypes.CFUNCTYPE(ctypes.c_ulong, ctypes.c_void_p)(functions[1])\n\
                   print(initialize(None))\n";
    let run = |environment: &[(&str, String)]| {
        let mut python = Command::new("python3");
        python.args(["-c", program]).arg(&world.module);
        python.envs(environment.iter().map(|(name, value)| (name, value)));
        String::from_utf8(python.output().unwrap().stderr).unwrap()
    };
    let said = run(&[]);
    assert!(
        said.contains("2 threads") && said.contains("SOFTHSM2_CONF="),
        "{said}"
    );
    let configuration = world.token.configuration().display().to_string();
    assert_eq!(run(&[("SOFTHSM2_CONF", configuration)]), "");
}
