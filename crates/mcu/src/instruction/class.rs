//! Kinds of instructions.

use crate::named::named;

named! {
    /// Kinds of instructions by which cycles are counted and explained.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
    #[repr(u8)]
    #[serde(rename_all = "kebab-case")]
    pub enum Class {
        /// MOV, MVN, MOVW, MOVT, ADR.
        Move = "MOV",
        /// ADD, SUB, RSB, CMP, CMN.
        Add = "ADD/SUB",
        /// ADC, SBC.
        AddCarry = "ADC/SBC",
        /// AND, ORR, EOR, BIC, ORN, TST, TEQ, bit fields, extension, reversal.
        Logic = "logic",
        /// LSL, LSR, ASR, ROR.
        Shift = "shift",
        /// MUL and what else is one cycle on both cores.
        Multiply = "MUL",
        /// MLA, MLS.
        MultiplyAccumulate = "MLA/MLS",
        /// UMULL, SMULL.
        MultiplyLong = "UMULL/SMULL",
        /// UMLAL, SMLAL.
        MultiplyLongAccumulate = "UMLAL/SMLAL",
        /// UMAAL.
        Umaal = "UMAAL",
        /// SDIV, UDIV.
        Divide = "UDIV/SDIV",
        /// The DSP extension, but for UMAAL, and saturation.
        Dsp = "DSP",
        /// LDR and its kin.
        Load = "LDR",
        /// STR and its kin with an immediate offset.
        Store = "STR",
        /// STR and its kin with a register offset, and STREX.
        StoreRegister = "STR",
        /// LDM, POP, LDRD.
        LoadMultiple = "LDM/LDRD",
        /// STM, PUSH, STRD.
        StoreMultiple = "STM/STRD",
        /// B, CBZ, BX: without a link.
        Branch = "B",
        /// BL, BLX.
        Call = "BL",
        /// TBB, TBH.
        TableBranch = "TBB/TBH",
        /// IT.
        If = "IT",
        /// NOP, barriers, special registers, breakpoints.
        System = "system",
    }
}

impl Class {
    /// Whether all of it take one cycle on both cores, touch no memory and go nowhere else.
    pub const fn is_plain(self) -> bool {
        self as u8 <= Self::Multiply as u8
    }
}
