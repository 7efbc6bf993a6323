/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reset of an STM32F405 as firmware has it: clocks, flash, memory, SysTick, then main. */
#include <stdint.h>
#include "keymark.h"

extern uint32_t data_start, data_end, data_load, bss_start, bss_end, stack_top;
int main(void);

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define FLASH_ACR REGISTER(0x40023c00)
#define RCC_CR REGISTER(0x40023800)
#define RCC_PLLCFGR REGISTER(0x40023804)
#define RCC_CFGR REGISTER(0x40023808)
#define CPACR REGISTER(0xe000ed88)
#define VTOR REGISTER(0xe000ed08)
#define SYST_CSR REGISTER(0xe000e010)
#define SYST_RVR REGISTER(0xe000e014)
#define SYST_CVR REGISTER(0xe000e018)
#define DEMCR REGISTER(0xe000edfc)
#define DWT_CTRL REGISTER(0xe0001000)
#define DWT_CYCCNT REGISTER(0xe0001004)

extern void (*const vectors[])(void);

volatile uint32_t milliseconds;

static void systick(void)
{
    milliseconds++;
}

static void set_clock(void)
{
    FLASH_ACR = 0x705; /* 5 wait states, prefetch and both caches */
    RCC_CR |= 1u << 16; /* the crystal of 8 MHz */
    while (!(RCC_CR & 1u << 17)) {
    }
    RCC_PLLCFGR = 8 | 336 << 6 | 1u << 22 | 7u << 24;
    RCC_CR |= 1u << 24;
    while (!(RCC_CR & 1u << 25)) {
    }
    RCC_CFGR = 2 | 5u << 10 | 4u << 13;
    while ((RCC_CFGR & 0xc) != 0x8) {
    }
}

void reset(void)
{
    VTOR = (uint32_t)vectors;
    CPACR |= 0xfu << 20; /* the floating-point unit, for code with -mfloat-abi=hard */
    set_clock();
    uint32_t *from = &data_load;
    for (uint32_t *to = &data_start; to < &data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = &bss_start; to < &bss_end; to++) {
        *to = 0;
    }
    DEMCR |= 1u << 24;
    DWT_CYCCNT = 0;
    DWT_CTRL |= 1;
    SYST_RVR = 168000 - 1;
    SYST_CVR = 0;
    SYST_CSR = 7;
    leave((uint32_t)main());
}

static void fault(void)
{
    leave(2);
}

__attribute__((section(".vectors"), used)) void (*const vectors[16])(void) = {
    (void (*)(void))&stack_top, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, systick,
};
