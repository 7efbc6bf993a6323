//! Obstacles to handing calls on.

use std::process::Command;

use keymark_shim_protocol::pkcs11::settings::Settings;

use crate::world::World;

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
    assert!(said.contains("unknown profile 'no-such-device'"), "{said}");
}

/// Java loads modules so, and Python here.
#[test]
fn a_program_with_threads_needs_nothing_in_its_environment() {
    let world = World::new();
    let program = "import threading, time, ctypes, os, sys\n\
                   threading.Thread(target=time.sleep, args=(1,), daemon=True).start()\n\
                   module = ctypes.CDLL(sys.argv[1])\n\
                   functions = ctypes.POINTER(ctypes.c_void_p)()\n\
                   assert module.C_GetFunctionList(ctypes.byref(functions)) == 0\n\
                   function = lambda at: ctypes.CFUNCTYPE(ctypes.c_ulong, *[ctypes.c_void_p] * 3)(functions[at])\n\
                   assert function(1)(None, None, None) == 0\n\
                   count = ctypes.c_ulong()\n\
                   assert function(5)(1, None, ctypes.byref(count)) == 0\n\
                   libc = ctypes.CDLL(None)\n\
                   libc.getenv.restype = ctypes.c_char_p\n\
                   print(count.value, libc.getenv(b'SOFTHSM2_CONF'))\n";
    let mut python = Command::new("python3");
    python.env_clear().env("PATH", "/usr/bin:/bin");
    let output = python.args(["-c", program]).arg(&world.module).output();
    let [said, printed] = output
        .map(|output| [output.stderr, output.stdout].map(|text| String::from_utf8(text).unwrap()))
        .unwrap();
    // The token and a blank slot, of the module alone.
    assert_eq!((said.as_str(), printed.as_str()), ("", "2 None\n"));
}

#[test]
fn a_module_that_asks_for_no_variables_in_the_usual_way_has_them_named() {
    let mut world = World::new();
    let (source, module) = (world.token.path("mute.c"), world.token.path("mute.so"));
    let text = "static struct { unsigned char version[2]; void *calls[68]; } list = { { 2, 40 } };\n\
                unsigned long C_GetFunctionList(void **to) { *to = &list; return 0; }\n";
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&module);
    world.token.run(compiler.arg(&source));
    world.set(Settings {
        module: Some(module),
        environment: [("A_PLACE".to_owned(), "/here".to_owned())].into(),
        ..Settings::default()
    });
    let output = world.client((1, 1), 1, &["sign"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("it does not call getenv; start the program with A_PLACE=/here"),
        "{said}"
    );
    let mut client = world.client((1, 1), 1, &["sign"]);
    let output = client.env("A_PLACE", "/here").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("A_PLACE"), "{said}");
}
