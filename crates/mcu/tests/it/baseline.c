// What a Cortex-M0+ has to do by other means than a Cortex-M3: products of 64 bits, divisions, tables of branches, and
// exceptions by registers that ARMv6-M has. It writes sums of all that it has computed.

#include <stdint.h>

static char text[400];
static char *end = text;

static int call(int operation, const void *argument) {
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

static void put(const char *name, uint32_t value) {
    while (*name) {
        *end++ = *name++;
    }
    for (int shift = 28; shift >= 0; shift -= 4) {
        *end++ = "0123456789abcdef"[value >> shift & 15];
    }
    *end++ = '\n';
}

static uint32_t state = 2463534242u;

static uint32_t draw(void) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

__attribute__((noinline)) static uint32_t products(void) {
    uint64_t sum = 1;
    for (int i = 0; i < 60; ++i) {
        sum = sum * draw() + draw();
        sum ^= sum >> (draw() & 31);
    }
    return (uint32_t)(sum ^ sum >> 32);
}

__attribute__((noinline)) static uint32_t quotients(void) {
    uint32_t sum = 0;
    for (int i = 0; i < 60; ++i) {
        uint32_t n = draw(), m = (draw() >> (i & 31)) | 1;
        sum = sum * 31 + n / m + n % m;
        sum ^= (uint32_t)((int32_t)n / (int32_t)(m | 2));
    }
    return sum;
}

__attribute__((noinline)) static uint32_t machine(void) {
    uint32_t value = 7;
    for (int i = 0; i < 80; ++i) {
        switch (draw() & 7) {
        case 0: value += 3; break;
        case 1: value = value << 5 | value >> 27; break;
        case 2: value ^= (uint32_t)(int8_t)draw(); break;
        case 3: value -= (uint16_t)draw(); break;
        case 4: value = __builtin_bswap32(value); break;
        case 5: value *= 2654435761u; break;
        case 6: value = ~value; break;
        default: value += value >> 3; break;
        }
    }
    return value;
}

static void sort(int16_t *values, int count) {
    for (int i = 1; i < count; ++i) {
        for (int j = i; j > 0 && values[j - 1] > values[j]; --j) {
            int16_t kept = values[j];
            values[j] = values[j - 1];
            values[j - 1] = kept;
        }
    }
}

static volatile uint32_t events;

static void handle_call(void) { events = events * 16 + 1; }
static void handle_pend(void) { events = events * 16 + 2; }
static void handle_fault(void) { call(0x18, (void *)1); }

int main(void) {
    put("products ", products());
    put("quotients ", quotients());
    put("machine ", machine());
    int16_t values[40];
    uint32_t sum = 0;
    for (int i = 0; i < 40; ++i) {
        values[i] = (int16_t)draw();
    }
    sort(values, 40);
    for (int i = 0; i < 40; ++i) {
        sum = sum * 33 + (uint32_t)(values[i] + i);
    }
    put("sorted ", sum);
#ifdef EXCEPTIONS
    __asm__ volatile("svc #0" ::: "r0", "r1", "r2", "r3", "r12", "memory");
    put("called ", events);
    __asm__ volatile("cpsid i" ::: "memory");
    *(volatile uint32_t *)0xe000ed04 = 1u << 28;
    __asm__ volatile("dsb\nisb" ::: "memory");
    put("masked ", events);
    __asm__ volatile("cpsie i\nisb" ::: "memory");
    put("then ", events);
#endif
    call(4, text);
    static const uint32_t done[] = {0x20026, 0};
    call(0x20, done);
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    (void *)0x20004000, main, handle_fault, handle_fault, 0, 0, 0, 0, 0, 0, 0, handle_call, 0, 0, handle_pend, 0,
};
