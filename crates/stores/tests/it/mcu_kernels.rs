//! The firmware kernels of the simulator against OpenSSL, on inputs of chance.

use keymark_mcu::image::Image;
use keymark_mcu::kernel::{Crt, Kernel, Options, Square, Umaal};
use keymark_mcu::machine::{SimulatedMachine, Stop};
use keymark_mcu::microcontroller::Microcontroller;
use keymark_mcu::timing::Untimed;
use openssl::bn::{BigNum, BigNumContext};
use openssl::derive::Deriver;
use openssl::pkey::{Id, PKey};
use openssl::sign::Signer;

/// More than any kernel needs.
const LIMIT: u64 = 1_000_000_000;

fn part(umaal: Umaal) -> Microcontroller {
    let name = if umaal == Umaal::On {
        "stm32l432"
    } else {
        "stm32f103"
    };
    Microcontroller::find(name).unwrap()
}

fn random(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    openssl::rand::rand_bytes(&mut bytes).unwrap();
    bytes
}

/// Runs the program with these inputs; gives its result, `length` bytes of it.
fn run(
    mut image: Image,
    mcu: &Microcontroller,
    inputs: &[(&str, &[u8])],
    length: usize,
) -> Vec<u8> {
    for (name, bytes) in inputs {
        image.initialise(name, bytes).unwrap();
    }
    let mut machine = mcu.load(&image).unwrap();
    assert_eq!(machine.run(&mut Untimed, LIMIT), Stop::Exit(0));
    let address = image.symbol("result").unwrap().address;
    machine.memory.bytes(address, length).unwrap().to_vec()
}

/// A number of the kernel's, little-endian, at a place in memory.
fn number(machine: &SimulatedMachine, address: u32, length: usize) -> BigNum {
    let mut bytes = machine.memory.bytes(address, length).unwrap().to_vec();
    bytes.reverse();
    BigNum::from_slice(&bytes).unwrap()
}

/// The modulus and private exponent of the kernel's test key, from the primes in its flash.
fn key(image: &Image, mcu: &Microcontroller, bits: u32) -> (BigNum, BigNum) {
    let machine = mcu.load(image).unwrap();
    let key = image.symbol(&format!("key_{bits}")).unwrap().address;
    // `struct key` begins with p and q, each in 64 limbs.
    let (p, q) = (number(&machine, key, 256), number(&machine, key + 256, 256));
    let mut context = BigNumContext::new().unwrap();
    let (mut modulus, mut totient, mut private) = (
        BigNum::new().unwrap(),
        BigNum::new().unwrap(),
        BigNum::new().unwrap(),
    );
    modulus.checked_mul(&p, &q, &mut context).unwrap();
    let one = BigNum::from_u32(1).unwrap();
    totient
        .checked_mul(&(&p - &one), &(&q - &one), &mut context)
        .unwrap();
    let public = BigNum::from_u32(65537).unwrap();
    private
        .mod_inverse(&public, &totient, &mut context)
        .unwrap();
    (modulus, private)
}

#[test]
fn rsa_is_the_power_that_openssl_computes() {
    let mut context = BigNumContext::new().unwrap();
    for (kernel, umaal, crt, square) in [
        (Kernel::Rsa2048, Umaal::Off, Crt::Recomputed, Square::Twice),
        (Kernel::Rsa2048, Umaal::On, Crt::Recomputed, Square::Twice),
        (Kernel::Rsa2048, Umaal::Portable, Crt::Stored, Square::Twice),
        (Kernel::Rsa3072, Umaal::Off, Crt::Stored, Square::Doubled),
        (Kernel::Rsa3072, Umaal::On, Crt::Stored, Square::Doubled),
        (Kernel::Rsa4096, Umaal::On, Crt::Recomputed, Square::Doubled),
    ] {
        let mcu = part(umaal);
        let options = Options {
            umaal,
            crt,
            square,
            ..Options::for_core(mcu.core)
        };
        let image = kernel.image(&options).unwrap();
        let bits = kernel.rsa_bits().unwrap();
        let length = bits as usize / 8;
        let (modulus, private) = key(&image, &mcu, bits);
        let (mut message, mut expected) = (BigNum::new().unwrap(), BigNum::new().unwrap());
        modulus.rand_range(&mut message).unwrap();
        expected
            .mod_exp(&message, &private, &modulus, &mut context)
            .unwrap();
        let mut input = message.to_vec_padded(512).unwrap();
        input.reverse();
        let mut result = run(image, &mcu, &[("message", &input)], length);
        result.reverse();
        let result = BigNum::from_slice(&result).unwrap();
        assert_eq!(result, expected, "{kernel} {options:?} of {message}");
    }
}

/// Each form of the kernels' multiplication, on a part that has it.
fn each_umaal() -> impl Iterator<Item = (Microcontroller, Options)> {
    Umaal::ALL.iter().map(|&umaal| {
        let mcu = part(umaal);
        let options = Options {
            umaal,
            ..Options::for_core(mcu.core)
        };
        (mcu, options)
    })
}

#[test]
fn x25519_derives_what_openssl_derives() {
    for (mcu, options) in each_umaal() {
        let secret = random(32);
        let own = PKey::private_key_from_raw_bytes(&secret, Id::X25519).unwrap();
        let peer = PKey::generate_x25519().unwrap().raw_public_key().unwrap();
        let public = PKey::public_key_from_raw_bytes(&peer, Id::X25519).unwrap();
        let mut deriver = Deriver::new(&own).unwrap();
        deriver.set_peer(&public).unwrap();
        let inputs = [("scalar", &secret[..]), ("point", &peer)];
        let result = run(Kernel::X25519.image(&options).unwrap(), &mcu, &inputs, 32);
        assert_eq!(
            result,
            deriver.derive_to_vec().unwrap(),
            "{options:?} {secret:02x?} {peer:02x?}"
        );
    }
}

#[test]
fn ed25519_signs_what_openssl_signs() {
    for (mcu, options) in each_umaal() {
        let (seed, message) = (random(32), random(32));
        let own = PKey::private_key_from_raw_bytes(&seed, Id::ED25519).unwrap();
        let public = own.raw_public_key().unwrap();
        let expected = Signer::new_without_digest(&own)
            .unwrap()
            .sign_oneshot_to_vec(&message)
            .unwrap();
        let inputs = [
            ("seed", &seed[..]),
            ("public_key", &public),
            ("message", &message),
        ];
        let result = run(Kernel::Ed25519.image(&options).unwrap(), &mcu, &inputs, 64);
        assert_eq!(result, expected, "{options:?} {seed:02x?} {message:02x?}");
    }
}
