// Floats as a compiler makes them, floating-point registers for spilled values, and exceptions among both. Runs in QEMU's
// mps2-an386 and in the simulator; writes what it computes. QEMU's log of instructions has some twice where an exception
// comes, so that these are left out where instructions are counted.

#include <stdint.h>

static char text[4096];
static unsigned length;

static void call(unsigned operation, const void *argument) {
    register unsigned r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt #0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void put(const char *name, uint32_t value) {
    while (*name) {
        text[length++] = *name++;
    }
    for (int shift = 28; shift >= 0; shift -= 4) {
        text[length++] = "0123456789abcdef"[value >> shift & 15];
    }
    text[length++] = '\n';
}

static uint32_t bits(float value) {
    uint32_t word;
    __builtin_memcpy(&word, &value, sizeof word);
    return word;
}

// Newton's iteration, a series, and a matrix: additions, products, divisions, roots, comparisons.
__attribute__((noinline)) static float root(float value) {
    float guess = value;
    for (int round = 0; round < 12; ++round) {
        guess = 0.5f * (guess + value / guess);
    }
    return guess;
}

__attribute__((noinline)) static float exponential(float x) {
    float sum = 1.0f, term = 1.0f;
    for (int n = 1; n < 20 && term != 0.0f; ++n) {
        term *= x / (float)n;
        sum += term;
    }
    return sum;
}

__attribute__((noinline)) static void multiply(float c[4][4], float a[4][4], float b[4][4]) {
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            float sum = 0.0f;
            for (int k = 0; k < 4; ++k) {
                sum += a[i][k] * b[k][j];
            }
            c[i][j] = sum;
        }
    }
}

// A Mandelbrot set: long chains of products with a data-dependent end.
__attribute__((noinline)) static unsigned inside(void) {
    unsigned count = 0;
    for (int y = -12; y < 12; ++y) {
        for (int x = -24; x < 8; ++x) {
            float re = 0.0f, im = 0.0f, a = (float)x * 0.09f, b = (float)y * 0.1f;
            int round = 0;
            for (; round < 50 && re * re + im * im < 4.0f; ++round) {
                float next = re * re - im * im + a;
                im = 2.0f * re * im + b;
                re = next;
            }
            count = count * 31 + (unsigned)round;
        }
    }
    return count;
}

// A permutation with more state than core registers, kept in floating-point ones as code for the M4F does.
__attribute__((noinline, naked)) static uint32_t spilled(uint32_t seed) {
    __asm__ volatile(
        "push {r4-r11, lr}\n vpush {d8-d15}\n"
        "vmov s0, r0\n movs r12, #0\n"
        "1: add r0, r12, r0, ror #7\n eor r1, r0, r12, lsl #9\n vmov s1, r1\n vmov s16, s17, r0, r1\n"
        "vmov r2, r3, s16, s17\n vmov d15, r3, r2\n vmov r4, s30\n vmov r5, s0\n add r0, r4, r5, ror #3\n"
        ".inst.w 0xee230b10 @ vmov.32 d3[1], r0\n .inst.w 0xee336b10 @ vmov.32 r6, d3[1]\n vmov.f32 s0, s1\n eor r0, r6, r2\n"
        "push {r0}\n vldr s9, [sp]\n vmov s10, r1\n vstr s10, [sp]\n pop {r7}\n vmov r8, s9\n add r0, r8, r7\n"
        "add r12, #1\n cmp r12, #200\n bne 1b\n"
        "vpop {d8-d15}\n pop {r4-r11, pc}\n");
}

volatile uint32_t *const ICSR = (uint32_t *)0xe000ed04;
static volatile unsigned events;

static void event(unsigned number) {
    events = events * 7 + number;
}

// Computes with floats, and lets what is less urgent wait.
__attribute__((used)) static void called(void) {
    event(1);
    *ICSR = 1u << 28; // PendSV
    __asm__ volatile("dsb\nisb");
    event(*ICSR >> 28 & 1);
    volatile float x = 3.0f;
    x = root(x) + exponential(x);
    event(2);
    *ICSR = 1u << 26; // SysTick, more urgent than this
    __asm__ volatile("dsb\nisb");
    event(3);
}
static void handle_call(void) { called(); }
static void handle_pend(void) {
    event(4);
    __asm__ volatile("svc #1"); // more urgent
    event(*ICSR & 0x1ff);
    volatile float y = 5.0f;
    y = root(y) * y;
    *ICSR = 1u << 27; // no longer pending
    event(5);
}
static void handle_tick(void) {
    event(6);
    volatile float z = 7.0f;
    z = exponential(z);
}
static void handle_fault(void) { call(0x18, (void *)1); }

int main(void) {
    put("root ", bits(root(2.0f)));
    put("exponential ", bits(exponential(1.0f)));
    put("small ", bits(exponential(-80.0f)));
    float a[4][4], b[4][4], c[4][4];
    for (int i = 0; i < 16; ++i) {
        a[i / 4][i % 4] = 1.0f / (float)(i + 1);
        b[i / 4][i % 4] = (float)(7 * i % 5) - 1.75f;
    }
    multiply(c, a, b);
    uint32_t sum = 0;
    for (int i = 0; i < 16; ++i) {
        sum = sum * 33 + bits(c[i / 4][i % 4]);
    }
    put("matrix ", sum);
    put("inside ", inside());
    put("spilled ", spilled(0x12345678));
    put("integer ", (uint32_t)(int32_t)(exponential(9.0f) * -3.0f));
    float wide = (float)0x89abcdefu;
    put("unsigned ", (uint32_t)wide + (wide > 2.3e9f));

#ifdef EXCEPTIONS
    // The same with three bits of a priority as with eight: parts and versions of QEMU's board differ in their number.
    *(volatile uint32_t *)0xe000ed1c = 0x40000000; // SVC
    *(volatile uint32_t *)0xe000ed20 = 0x00e00000; // SysTick most urgent, PendSV least
    float kept = root(11.0f);
    register float in_register __asm__("s9") = kept;
    __asm__ volatile("svc #0" : "+t"(in_register) : : "r0", "r1", "r2", "r3", "r12", "memory");
    put("kept ", bits(in_register));
    put("events ", events);
    __asm__ volatile("msr basepri, %0" : : "r"(0xe0));
    *ICSR = 1u << 28;
    __asm__ volatile("dsb\nisb");
    put("masked ", events);
    __asm__ volatile("msr basepri, %0\nisb" : : "r"(0));
    put("then ", events);
    uint32_t control;
    __asm__ volatile("mrs %0, control" : "=r"(control));
    put("control ", control);
#endif
    call(4, text);
    static const uint32_t done[] = {0x20026, 0};
    call(0x20, done);
    for (;;) {
    }
}

__attribute__((naked, used)) static void reset(void) {
    __asm__ volatile("ldr r0, =0xe000ed88\nmov r1, #0xf00000\nstr r1, [r0]\ndsb\nisb\nb main\n.ltorg");
}

__attribute__((section(".vectors"), used)) static void *const vectors[16] = {
    (void *)0x20008000, reset,        handle_fault, handle_fault, handle_fault, handle_fault, handle_fault, 0,
    0,                  0,            0,            handle_call,  0,            0,            handle_pend,  handle_tick,
};
