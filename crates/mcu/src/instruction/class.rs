//! Kinds of instructions.

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
    /// STR and its kin with a register offset, and STREX.
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
    pub const fn is_plain(self) -> bool {
        self as u8 <= Self::Multiply as u8
    }

    /// The instructions it stands for, as tables show it.
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
