//! Power loss at every step of every write, and at steps of the mount after it.
//!
//! Whatever the cut step left, mounted again every object has its value, the one
//! being written its old or its new one; and no eight bytes of a private key
//! other than the live ones are anywhere in the cells.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use keymark_flash::design::{Design, DesignKind, StorageError};
use keymark_flash::geometry::{Geometry, SectorRun};
use keymark_flash::nor::{Flash, FlashError};
use keymark_flash::object::ObjectId;
use keymark_flash::workload::{Workload, Write, provisioning};

use crate::geometry;

type Model = BTreeMap<ObjectId, Vec<u8>>;

/// The F4's rules on sectors so small that they are collected often.
fn small_f4() -> Geometry {
    Geometry {
        name: "f4-small".to_owned(),
        sectors: vec![
            SectorRun {
                count: 7,
                bytes: 4096,
                erase_typical_us: 250_000,
                erase_maximum_us: 500_000,
            },
            SectorRun {
                count: 1,
                bytes: 8192,
                erase_typical_us: 550_000,
                erase_maximum_us: 1_100_000,
            },
        ],
        ..geometry("stm32f405")
    }
}

fn read(storage: &dyn Design, flash: &Flash) -> Model {
    let value = |object| Some((object, storage.get(flash, object).unwrap()?));
    ObjectId::ALL.iter().copied().filter_map(value).collect()
}

/// What eight bytes of a private key look like.
type Pieces = HashSet<u64, BuildHasherDefault<Itself>>;

/// Keys are random already: every cell of every cut is looked up.
#[derive(Default)]
struct Itself(u64);

impl Hasher for Itself {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("pieces are numbers")
    }

    fn write_u64(&mut self, piece: u64) {
        self.0 = piece;
    }
}

fn piece(octets: &[u8]) -> u64 {
    u64::from_be_bytes(octets.try_into().unwrap())
}

fn pieces(key: &[u8]) -> impl Iterator<Item = u64> {
    key.windows(8).map(piece)
}

/// An allowed state: the objects, and the pieces of the keys among them.
struct State {
    model: Model,
    live: Pieces,
}

impl State {
    fn of(model: Model) -> Self {
        let keys = ObjectId::KEYS.iter().filter_map(|key| model.get(key));
        let live = keys.flat_map(|key| pieces(key)).collect();
        Self { model, live }
    }
}

/// Pieces of all private keys that were ever written.
struct EveryKey {
    pieces: Pieces,
    /// Whether a piece begins with these two bytes: most cells are not looked up.
    begins: Vec<bool>,
}

impl Default for EveryKey {
    fn default() -> Self {
        Self {
            pieces: Pieces::default(),
            begins: vec![false; 1 << 16],
        }
    }
}

impl EveryKey {
    fn add(&mut self, key: &[u8]) {
        for piece in pieces(key) {
            self.begins[(piece >> 48) as usize] = true;
            self.pieces.insert(piece);
        }
    }

    /// Where a piece of a key that is not live is readable. Values start at even addresses in every layout.
    fn readable_in(&self, flash: &Flash, live: &Pieces) -> Option<usize> {
        let cells = flash.cells();
        let begins = |at: usize| usize::from(u16::from_be_bytes([cells[at], cells[at + 1]]));
        let mut addresses = (0..cells.len() - 7)
            .step_by(2)
            .filter(|&at| self.begins[begins(at)]);
        addresses.find(|&at| {
            let piece = piece(&cells[at..at + 8]);
            self.pieces.contains(&piece) && !live.contains(&piece)
        })
    }
}

// Every step of every write is cut; of some writes what comes after a cut is also tried.

/// Writes after provisioning, and the number of them before which keys and certificates are written too.
const WARM: usize = 900;
const SMALL: usize = 150;
/// Number of writes at the end that are followed up, and of those before that erase something: of keys, certificates and
/// others each.
const LAST: usize = 4;
const ERASING: usize = 3;
/// After three cuts of such a write the mount is cut at one step in this number.
const MOUNT_STRIDE: u64 = 5;
/// After one cut in this number, those that tear an erase and the last ones the storage is used further.
const USES: u64 = 97;
const SEED: u64 = 11;

struct Trial<'a> {
    kind: DesignKind,
    /// What may be found.
    states: [State; 2],
    keys: &'a EveryKey,
    /// What was tried, for the message of a failure.
    context: String,
}

impl Trial<'_> {
    fn mounted(&self, flash: &mut Flash, context: &str) -> Box<dyn Design> {
        let mount = self.kind.mount(flash);
        let storage = mount.unwrap_or_else(|error| panic!("{}, {context}: {error}", self.context));
        self.check(storage.as_ref(), flash, context);
        storage
    }

    fn check(&self, storage: &dyn Design, flash: &Flash, context: &str) {
        let found = read(storage, flash);
        let Some(state) = self.states.iter().find(|state| state.model == found) else {
            let differs = |object: &ObjectId| found.get(object) != self.states[0].model.get(object);
            let objects: Vec<_> = ObjectId::ALL.iter().copied().filter(differs).collect();
            panic!(
                "{}, {context}: neither old nor new: {objects:?}",
                self.context
            );
        };
        let readable = self.keys.readable_in(flash, &state.live);
        assert_eq!(
            readable, None,
            "{}, {context}: an old key is readable",
            self.context
        );
    }

    /// Cuts a mount of this flash at its steps.
    fn cut_mounts(&self, flash: &Flash, seed: u64) {
        for step in (seed % MOUNT_STRIDE..).step_by(MOUNT_STRIDE as usize) {
            let mut flash = flash.clone();
            flash.cut_power_after(step, seed ^ step.wrapping_mul(0x9e37_79b9));
            match self.kind.mount(&mut flash) {
                Ok(_) => break,
                Err(StorageError::Flash(FlashError::PowerLoss)) => {}
                Err(error) => panic!("{}: mount cut after {step}: {error}", self.context),
            }
            flash.restore_power();
            self.mounted(&mut flash, &format!("mount cut after {step}"));
        }
    }

    /// What was recovered can be used: everything is written once more, and is there after another mount.
    fn use_further(&self, mut storage: Box<dyn Design>, flash: &mut Flash, seed: u64) {
        let mut model = read(storage.as_ref(), flash);
        for write in provisioning(seed) {
            storage
                .put(flash, write.object, &write.value)
                .unwrap_or_else(|error| panic!("{}, used further: {error}", self.context));
            model.insert(write.object, write.value);
        }
        assert_eq!(
            read(storage.as_ref(), flash),
            model,
            "{}, used further",
            self.context
        );
        let storage = self.kind.mount(flash).unwrap();
        assert_eq!(
            read(storage.as_ref(), flash),
            model,
            "{}, used further and mounted",
            self.context
        );
    }
}

/// Performs a write with power cut at every step, and mounts what that left.
fn cut_everywhere(
    trial: &mut Trial<'_>,
    flash: &Flash,
    write: &Write,
    seed: u64,
    is_followed_up: bool,
) {
    let context = trial.context.clone();
    let mut whole = flash.clone();
    let mut storage = trial.kind.mount(&mut whole).unwrap();
    storage.put(&mut whole, write.object, &write.value).unwrap();
    let steps = whole.steps() - flash.steps();
    let mut erases = None;
    for step in 0..steps {
        let mut flash = flash.clone();
        let mut storage = trial.kind.mount(&mut flash).unwrap();
        let seed = seed.wrapping_add(step);
        flash.cut_power_after(step, seed);
        let cut = storage.put(&mut flash, write.object, &write.value);
        assert_eq!(
            cut,
            Err(StorageError::Flash(FlashError::PowerLoss)),
            "{context}: cut after {step}"
        );
        flash.restore_power();
        trial.context = format!("{context}, cut after {step}, torn by {seed}");
        if !is_followed_up {
            trial.mounted(&mut flash, "mounted");
            continue;
        }
        if [steps / 5, steps * 3 / 5, steps - 1].contains(&step) {
            trial.cut_mounts(&flash, seed);
        }
        let storage = trial.mounted(&mut flash, "mounted");
        let torn_erase = erases
            .replace(flash.erases().to_vec())
            .is_some_and(|before| before != flash.erases());
        if torn_erase || steps - step <= 6 || step % USES == seed % USES {
            trial.use_further(storage, &mut flash, seed);
        }
    }
}

/// Runs a sequence with power cut at every step of every write; follows up the last writes and
/// some of those before that erase something.
fn cut_sequence(geometry: &Geometry, kind: DesignKind) {
    let writes = sequence();
    let last = writes.len() - LAST;
    let mut erasing = [ERASING; 3];
    let mut flash = Flash::new(geometry);
    let mut storage = kind.format(&mut flash).unwrap();
    let (mut model, mut keys) = (Model::new(), EveryKey::default());
    let counters = ObjectId::ALL.iter().filter(|object| object.is_counter());
    for &object in counters {
        model.insert(object, vec![0; object.max_bytes()]);
    }
    for (index, write) in writes.iter().enumerate() {
        let mut new = model.clone();
        new.insert(write.object, write.value.clone());
        if write.object.is_sensitive() {
            keys.add(&write.value);
        }
        let before = flash.clone();
        storage.put(&mut flash, write.object, &write.value).unwrap();
        let quota = &mut erasing[class(write.object)];
        let erases = *quota > 0 && before.erases() != flash.erases();
        *quota -= usize::from(erases);
        let mut trial = Trial {
            kind,
            states: [State::of(model), State::of(new.clone())],
            keys: &keys,
            context: format!("{} {kind}, write {index} ({})", geometry.name, write.object),
        };
        let seed = SEED ^ (index as u64) << 32;
        cut_everywhere(&mut trial, &before, write, seed, index >= last || erases);
        let [_, after] = &trial.states;
        assert_eq!(
            read(storage.as_ref(), &flash),
            after.model,
            "{}",
            trial.context
        );
        let old_key = keys.readable_in(&flash, &after.live);
        assert_eq!(old_key, None, "{}", trial.context);
        model = new;
        let steps = flash.steps();
        storage = kind.mount(&mut flash).unwrap();
        assert_eq!(
            flash.steps(),
            steps,
            "a mount of what was not cut writes nothing"
        );
    }
    let context = format!(
        "{} {kind}: the sequence is too short to erase {erasing:?}",
        geometry.name
    );
    assert_eq!(erasing[2], 0, "{context}");
}

/// Keys, certificate, what is in Gnuk's pool.
fn class(object: ObjectId) -> usize {
    if object.is_sensitive() {
        0
    } else {
        1 + usize::from(object != ObjectId::Certificate)
    }
}

/// After provisioning, writes of both workloads.
fn sequence() -> Vec<Write> {
    let mut writes = provisioning(SEED);
    // The signature counter comes from one source only: it must not go backwards.
    let mut signatures = Workload::Signatures.writes(SEED);
    let mut others = (SEED..)
        .flat_map(|seed| provisioning(seed ^ 0xda7a))
        .filter(|put| put.object != ObjectId::SignatureCounter);
    for index in 0..WARM {
        writes.extend(signatures.next());
        let is_small = |put: &Write| index < SMALL || class(put.object) == 2;
        writes.extend(others.find(is_small));
    }
    writes
}

fn all_designs(geometry: &Geometry) {
    for &kind in DesignKind::ALL {
        cut_sequence(geometry, kind);
    }
}

#[test]
fn no_cut_harms_on_f103_pages_of_1_kb() {
    all_designs(&geometry("stm32f103-1k"));
}

#[test]
fn no_cut_harms_on_f103_pages_of_2_kb() {
    all_designs(&geometry("stm32f103-2k"));
}

#[test]
fn no_cut_harms_on_l4_double_words() {
    all_designs(&geometry("stm32l432"));
}

#[test]
fn no_cut_harms_where_bits_clear() {
    all_designs(&small_f4());
}
