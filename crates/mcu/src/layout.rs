//! Where a part has its flash and RAM: what machine and timing model agree on.

/// Where memory lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// First address of flash. Flash is seen at address 0 as well, as when booting from it.
    pub flash_base: u32,
    /// Bytes of flash.
    pub flash_size: u32,
    /// First address of RAM.
    pub ram_base: u32,
    /// Bytes of RAM.
    pub ram_size: u32,
}
