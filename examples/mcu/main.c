/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* SHA-256 (FIPS 180-4) of 64 bytes, a hundred times over, timed by the core's own cycle counter. */
#include <stdint.h>
#include "keymark.h"

PHASE_NAME(1, hash);
PHASE_NAME(2, average);

extern volatile uint32_t milliseconds;

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

__attribute__((noinline)) static void compress(uint32_t state[8], const uint32_t block[16])
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 64; i++) {
        if (i < 16) {
            w[i] = block[i];
        } else {
            uint32_t a = w[i - 15], b = w[i - 2];
            w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
        }
    }
    for (int i = 0; i < 8; i++) {
        s[i] = state[i];
    }
    for (int i = 0; i < 64; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t t = s[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
        uint32_t u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--) {
            s[j] = s[j - 1];
        }
        s[4] += t;
        s[0] = t + u;
    }
    for (int i = 0; i < 8; i++) {
        state[i] += s[i];
    }
}

static void write_number(const char *name, uint32_t number)
{
    char text[12], *to = text + sizeof text;
    *--to = 0;
    *--to = '\n';
    do {
        *--to = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    write_text(name);
    write_text(to);
}

int main(void)
{
    uint32_t state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    /* "abc", padded to a block: its digest is known (FIPS 180-4). */
    static const uint32_t block[16] = { 0x61626380, [15] = 24 };
    uint32_t spent[100];
    for (int i = 0; i < 100; i++) {
        uint32_t begun, ended;
        PHASE_AT(1, begun);
        compress(state, block);
        PHASE_AT(0, ended);
        spent[i] = ended - begun;
        if (i == 0 && (state[0] != 0xba7816bf || state[7] != 0xf20015ad)) {
            return 1;
        }
    }
    PHASE(2);
    uint32_t sum = 0;
    for (int i = 0; i < 100; i++) {
        sum += spent[i];
    }
    uint32_t average = sum / 100;
    PHASE(0);
    write_number("first ", spent[0]);
    write_number("average ", average);
    write_number("milliseconds ", milliseconds);
    return 0;
}
