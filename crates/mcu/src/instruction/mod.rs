//! Decoded instructions: what the machine executes and what the timing model needs to know of them.
//!
//! Names are those of the ARMv7-M Architecture Reference Manual (ARM DDI 0403E), sections A7.7.x.

mod facts;

/// One of the sixteen core registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Register(u8);

impl Register {
    /// Stack pointer, R13.
    pub const SP: Self = Self(13);
    /// Link register, R14.
    pub const LR: Self = Self(14);
    /// Program counter, R15.
    pub const PC: Self = Self(15);

    /// The register of that number; only the low four bits count.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self((number & 15) as u8)
    }

    /// Its number, below 16.
    #[must_use]
    pub const fn number(self) -> usize {
        (self.0 & 15) as usize
    }

    /// A set of this register alone.
    #[must_use]
    pub const fn bit(self) -> u16 {
        1 << (self.0 & 15)
    }
}

/// Arithmetic and logic of two operands. The last four only set flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the architecture's mnemonics")]
pub enum Alu {
    And,
    Bic,
    Orr,
    Orn,
    Eor,
    Add,
    Adc,
    Sub,
    Sbc,
    Rsb,
    /// MOV and MVN ignore the first operand.
    Mov,
    Mvn,
    Tst,
    Teq,
    Cmp,
    Cmn,
}

/// Whether an instruction changes the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flags {
    /// APSR stays.
    Keep,
    /// N, Z and, by the operation, C and V are set.
    Set,
}

/// What the immediate shifter does to carry (ThumbExpandImm_C, A5.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "what they say")]
pub enum ImmediateCarry {
    Keep,
    Clear,
    Set,
}

/// A7.4.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the architecture's mnemonics")]
pub enum Shift {
    Lsl,
    Lsr,
    Asr,
    Ror,
    /// Rotate right by one through carry; the amount is ignored.
    Rrx,
}

/// Width and extension of an access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "what they say")]
pub enum Access {
    Word,
    Half,
    Byte,
    SignedHalf,
    SignedByte,
}

/// How the base register takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// `[Rn, #offset]`
    Offset,
    /// `[Rn, #offset]!`
    Pre,
    /// `[Rn], #offset`
    Post,
}

/// Where the list of LDM and STM goes from the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// IA
    IncrementAfter,
    /// DB
    DecrementBefore,
}

/// Whether the base is written back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "what they say")]
pub enum WriteBack {
    No,
    Yes,
}

/// Products of 64 bits into RdLo, RdHi.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the architecture's mnemonics")]
pub enum Long {
    Umull,
    Smull,
    Umlal,
    Smlal,
    Umaal,
}

/// Which halves of the operands are multiplied: `true` in these two bits means the top half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Halves {
    /// Of Rn.
    pub n: Half,
    /// Of Rm.
    pub m: Half,
}

/// Half of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "what they say")]
pub enum Half {
    Bottom,
    Top,
}

/// Multiplications with a 32-bit result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the architecture's mnemonics")]
pub enum Multiply {
    /// Ra is ignored.
    Mul,
    Mla,
    Mls,
    /// SMUL<x><y> where Ra is the PC, otherwise SMLA<x><y>.
    Smla(Halves),
    /// SMULW<y> or SMLAW<y>.
    Smlaw(Half),
    /// SMUAD{X} or SMLAD{X}; `Top` exchanges the halves of Rm first.
    Smlad(Half),
    /// SMUSD{X} or SMLSD{X}.
    Smlsd(Half),
    /// SMMUL{R} or SMMLA{R}; `Top` rounds.
    Smmla(Half),
    /// SMMLS{R}.
    Smmls(Half),
    /// USAD8 or USADA8.
    Usada8,
}

/// DSP products accumulated into 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the architecture's mnemonics")]
pub enum LongDsp {
    Smlal(Halves),
    Smlald(Half),
    Smlsld(Half),
}

/// Saturating additions, QADD and its kin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the architecture's mnemonics")]
pub enum Saturating {
    Qadd,
    Qdadd,
    Qsub,
    Qdsub,
}

/// What the lanes of a parallel instruction do (A7.4.x, `SADD16` …).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the architecture's mnemonics")]
pub enum Lanes {
    Add16,
    Asx,
    Sax,
    Sub16,
    Add8,
    Sub8,
}

/// What becomes of a lane's sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneKind {
    /// S…: wraps, sets GE.
    Signed,
    /// Q…: saturates.
    SignedSaturating,
    /// SH…: halves.
    SignedHalving,
    /// U…
    Unsigned,
    /// UQ…
    UnsignedSaturating,
    /// UH…
    UnsignedHalving,
}

/// SXTB and its kin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the architecture's mnemonics")]
pub enum Extend {
    Sxtb,
    Sxth,
    Sxtb16,
    Uxtb,
    Uxth,
    Uxtb16,
}

/// One operand in, one out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the architecture's mnemonics")]
pub enum Unary {
    Rev,
    Rev16,
    Revsh,
    Rbit,
    Clz,
}

/// Bit fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the architecture's mnemonics")]
pub enum BitField {
    /// BFI; BFC where Rn is the PC.
    Bfi,
    Sbfx,
    Ubfx,
}

/// Signedness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "what they say")]
pub enum Sign {
    Signed,
    Unsigned,
}

/// What an instruction does, its operands ready for use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "fields are named as in the architecture manual"
)]
pub enum Operation {
    /// Not looked at yet, or data.
    Undecoded,
    DataImmediate {
        alu: Alu,
        flags: Flags,
        rd: Register,
        rn: Register,
        carry: ImmediateCarry,
        value: u32,
    },
    DataRegister {
        alu: Alu,
        flags: Flags,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    DataShifted {
        alu: Alu,
        flags: Flags,
        rd: Register,
        rn: Register,
        rm: Register,
        shift: Shift,
        amount: u8,
    },
    /// LSL, LSR, ASR, ROR by a register.
    ShiftRegister {
        shift: Shift,
        flags: Flags,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    /// MOVT
    MoveTop {
        rd: Register,
        value: u16,
    },
    Multiply {
        multiply: Multiply,
        flags: Flags,
        rd: Register,
        rn: Register,
        rm: Register,
        ra: Register,
    },
    MultiplyLong {
        long: Long,
        low: Register,
        high: Register,
        rn: Register,
        rm: Register,
    },
    MultiplyLongDsp {
        long: LongDsp,
        low: Register,
        high: Register,
        rn: Register,
        rm: Register,
    },
    Divide {
        sign: Sign,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    Saturating {
        saturating: Saturating,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    /// SSAT, USAT.
    Saturate {
        sign: Sign,
        rd: Register,
        rn: Register,
        bits: u8,
        shift: Shift,
        amount: u8,
    },
    /// SSAT16, USAT16.
    Saturate16 {
        sign: Sign,
        rd: Register,
        rn: Register,
        bits: u8,
    },
    Parallel {
        lanes: Lanes,
        kind: LaneKind,
        rd: Register,
        rn: Register,
        rm: Register,
    },
    Select {
        rd: Register,
        rn: Register,
        rm: Register,
    },
    /// PKHBT (`Lsl`) and PKHTB (`Asr`).
    Pack {
        rd: Register,
        rn: Register,
        rm: Register,
        shift: Shift,
        amount: u8,
    },
    /// With addition, unless Rn is the PC.
    Extend {
        extend: Extend,
        rd: Register,
        rn: Register,
        rm: Register,
        rotation: u8,
    },
    Unary {
        unary: Unary,
        rd: Register,
        rm: Register,
    },
    BitField {
        field: BitField,
        rd: Register,
        rn: Register,
        lsb: u8,
        width: u8,
    },
    Load {
        access: Access,
        rt: Register,
        rn: Register,
        index: Index,
        offset: i32,
    },
    LoadRegister {
        access: Access,
        rt: Register,
        rn: Register,
        rm: Register,
        shift: u8,
    },
    /// Relative to the PC; the address is ready.
    LoadLiteral {
        access: Access,
        rt: Register,
        address: u32,
    },
    Store {
        access: Access,
        rt: Register,
        rn: Register,
        index: Index,
        offset: i32,
    },
    StoreRegister {
        access: Access,
        rt: Register,
        rn: Register,
        rm: Register,
        shift: u8,
    },
    LoadDouble {
        rt: Register,
        rt2: Register,
        rn: Register,
        index: Index,
        offset: i16,
    },
    StoreDouble {
        rt: Register,
        rt2: Register,
        rn: Register,
        index: Index,
        offset: i16,
    },
    LoadMultiple {
        rn: Register,
        list: u16,
        direction: Direction,
        write_back: WriteBack,
    },
    StoreMultiple {
        rn: Register,
        list: u16,
        direction: Direction,
        write_back: WriteBack,
    },
    /// LDREX and its kin: there is one core and no exception, so it always succeeds.
    LoadExclusive {
        access: Access,
        rt: Register,
        rn: Register,
        offset: u16,
    },
    StoreExclusive {
        access: Access,
        rd: Register,
        rt: Register,
        rn: Register,
        offset: u16,
    },
    /// B
    Branch {
        target: u32,
    },
    /// B<c>: the condition stands in the instruction.
    BranchConditional {
        condition: Condition,
        target: u32,
    },
    /// CBZ (`Clear`) and CBNZ (`Set`).
    CompareBranch {
        rn: Register,
        nonzero: NonZero,
        target: u32,
    },
    /// BL
    BranchLink {
        target: u32,
    },
    /// BX, MOV PC, and ADD PC (with Rn the PC).
    BranchRegister {
        rm: Register,
        kind: Indirect,
    },
    /// BLX
    BranchLinkRegister {
        rm: Register,
    },
    /// TBB and TBH.
    TableBranch {
        rn: Register,
        rm: Register,
        access: Access,
    },
    If,
    /// NOP, DSB, DMB, hints, CPS, CLREX, PLD.
    Nop,
    /// ISB: what follows is fetched anew.
    Barrier,
    /// MRS
    ReadSpecial {
        rd: Register,
        special: u8,
    },
    /// MSR
    WriteSpecial {
        rn: Register,
        special: u8,
        mask: u8,
    },
    Breakpoint {
        number: u8,
    },
    /// Not an instruction of the architecture, or one that is not simulated.
    Unknown {
        encoding: u32,
    },
}

/// CBNZ or CBZ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonZero {
    /// Branches on zero.
    Clear,
    /// Branches on anything else.
    Set,
}

/// How a register becomes the PC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indirect {
    /// BX: bit 0 must be set.
    Exchange,
    /// MOV PC: bit 0 is ignored.
    Move,
    /// ADD PC, Rm.
    Add,
}

/// A7.3.1. `Al` is not written in the instruction but the case outside IT blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the architecture's mnemonics")]
pub enum Condition {
    Eq,
    Ne,
    Cs,
    Cc,
    Mi,
    Pl,
    Vs,
    Vc,
    Hi,
    Ls,
    Ge,
    Lt,
    Gt,
    Le,
    Al,
}

impl Condition {
    /// From its four bits; 15 is AL as in IT blocks.
    #[must_use]
    pub const fn new(bits: u32) -> Self {
        use Condition::{Al, Cc, Cs, Eq, Ge, Gt, Hi, Le, Ls, Lt, Mi, Ne, Pl, Vc, Vs};
        [
            Eq, Ne, Cs, Cc, Mi, Pl, Vs, Vc, Hi, Ls, Ge, Lt, Gt, Le, Al, Al,
        ][(bits & 15) as usize]
    }
}

/// Kinds of instructions by which cycles are counted and explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[repr(u8)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// MOV, MVN, MOVW, MOVT, ADR.
    Move,
    /// ADD, SUB, RSB, CMP, CMN.
    Add,
    /// ADC, SBC.
    AddCarry,
    /// AND, ORR, EOR, BIC, ORN, TST, TEQ, bit fields, extension, reversal.
    Logic,
    /// LSL, LSR, ASR, ROR.
    Shift,
    /// MUL and what else is one cycle on both cores.
    Multiply,
    /// MLA, MLS.
    MultiplyAccumulate,
    /// UMULL, SMULL.
    MultiplyLong,
    /// UMLAL, SMLAL.
    MultiplyLongAccumulate,
    /// UMAAL.
    Umaal,
    /// SDIV, UDIV.
    Divide,
    /// The DSP extension, but for UMAAL, and saturation.
    Dsp,
    /// LDR and its kin.
    Load,
    /// STR and its kin with an immediate offset.
    Store,
    /// STR and its kin with a register offset.
    StoreRegister,
    /// LDM, POP, LDRD.
    LoadMultiple,
    /// STM, PUSH, STRD.
    StoreMultiple,
    /// B, CBZ, BX: without a link.
    Branch,
    /// BL, BLX.
    Call,
    /// TBB, TBH.
    TableBranch,
    /// IT.
    If,
    /// NOP, barriers, special registers, breakpoints.
    System,
}

impl Class {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 22] = [
        Self::Move,
        Self::Add,
        Self::AddCarry,
        Self::Logic,
        Self::Shift,
        Self::Multiply,
        Self::MultiplyAccumulate,
        Self::MultiplyLong,
        Self::MultiplyLongAccumulate,
        Self::Umaal,
        Self::Divide,
        Self::Dsp,
        Self::Load,
        Self::Store,
        Self::StoreRegister,
        Self::LoadMultiple,
        Self::StoreMultiple,
        Self::Branch,
        Self::Call,
        Self::TableBranch,
        Self::If,
        Self::System,
    ];

    /// Whether all of it take one cycle on both cores, touch no memory and go nowhere else.
    #[must_use]
    pub const fn is_plain(self) -> bool {
        self as u8 <= Self::Multiply as u8
    }

    /// The instructions it stands for, as tables show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Move => "MOV",
            Self::Add => "ADD/SUB",
            Self::AddCarry => "ADC/SBC",
            Self::Logic => "logic",
            Self::Shift => "shift",
            Self::Multiply => "MUL",
            Self::MultiplyAccumulate => "MLA/MLS",
            Self::MultiplyLong => "UMULL/SMULL",
            Self::MultiplyLongAccumulate => "UMLAL/SMLAL",
            Self::Umaal => "UMAAL",
            Self::Divide => "UDIV/SDIV",
            Self::Dsp => "DSP",
            Self::Load => "LDR",
            Self::Store | Self::StoreRegister => "STR",
            Self::LoadMultiple => "LDM/LDRD",
            Self::StoreMultiple => "STM/STRD",
            Self::Branch => "B",
            Self::Call => "BL",
            Self::TableBranch => "TBB/TBH",
            Self::If => "IT",
            Self::System => "system",
        }
    }
}

/// A decoded instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// What it does.
    pub operation: Operation,
    /// What is known of it besides.
    pub facts: Facts,
}

/// What is known of an instruction before it is executed. Eight bytes, copied whole: the timing model
/// keeps those of the instruction before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(4))]
pub struct Facts {
    /// Registers it writes.
    pub writes: u16,
    /// Registers it makes an address of.
    pub address: u16,
    /// Its kind.
    pub class: Class,
    /// Bytes: two or four.
    pub size: u8,
    /// Registers moved by LDM and STM (two for LDRD and STRD), PC included.
    pub count: u8,
    /// Whether it does anything, by the IT block around it.
    pub condition: Condition,
}

impl Facts {
    /// Those of an instruction that touches nothing.
    pub const NONE: Self = Self {
        writes: 0,
        address: 0,
        class: Class::System,
        size: 2,
        count: 0,
        condition: Condition::Al,
    };
}

impl Instruction {
    /// What stands where nothing has been decoded.
    pub const UNDECODED: Self = Self {
        operation: Operation::Undecoded,
        facts: Facts::NONE,
    };

    /// Adds what follows from the operation: class, registers.
    #[must_use]
    pub fn new(operation: Operation, size: u8, condition: Condition) -> Self {
        let (writes, address) = operation.registers();
        Self {
            operation,
            facts: Facts {
                writes,
                address,
                class: operation.class(),
                size,
                count: operation.count(),
                condition,
            },
        }
    }
}
