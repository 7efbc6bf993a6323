/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "bignum.h"
#include "memory.h"

#include "muladdc.h"

uint32_t bn_mul_add(uint32_t *d, const uint32_t *s, size_t n, uint32_t b)
{
    uint32_t carry = 0;
    for (; n >= 16; n -= 16) {
        carry = muladdc_16(&d, &s, b, carry);
    }
    for (; n >= 4; n -= 4) {
        carry = muladdc_4(&d, &s, b, carry);
    }
    for (; n >= 1; n -= 1) {
        carry = muladdc_1(&d, &s, b, carry);
    }
    return carry;
}

uint32_t bn_add(uint32_t *d, const uint32_t *s, size_t n)
{
    uint32_t carry = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t sum = s[i] + carry;
        carry = sum < carry;
        d[i] += sum;
        carry += d[i] < sum;
    }
    return carry;
}

uint32_t bn_sub(uint32_t *d, const uint32_t *s, size_t n)
{
    uint32_t borrow = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t difference = d[i] - borrow;
        borrow = d[i] < borrow;
        borrow += difference < s[i];
        d[i] = difference - s[i];
    }
    return borrow;
}

int bn_compare(const uint32_t *a, const uint32_t *b, size_t n)
{
    while (n-- > 0) {
        if (a[n] != b[n]) {
            return a[n] < b[n] ? -1 : 1;
        }
    }
    return 0;
}

void bn_shift_right(uint32_t *d, size_t n, uint32_t top)
{
    while (n-- > 0) {
        uint32_t next = d[n] & 1;
        d[n] = d[n] >> 1 | top << 31;
        top = next;
    }
}

void bn_multiply(uint32_t *product, const uint32_t *a, const uint32_t *b, size_t n)
{
    memset(product, 0, 2 * n * sizeof *product);
    for (size_t i = 0; i < n; i++) {
        product[i + n] = bn_mul_add(product + i, a, n, b[i]);
    }
}

/* a[0..n] -= m[0..n] * q; returns what must still be taken from a[n]. */
static uint32_t mul_sub(uint32_t *a, const uint32_t *m, size_t n, uint32_t q)
{
    uint32_t borrow = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t product = (uint64_t)m[i] * q + borrow;
        borrow = (uint32_t)(product >> 32) + (a[i] < (uint32_t)product);
        a[i] -= (uint32_t)product;
    }
    return borrow;
}

void bn_modulo(uint32_t *r, const uint32_t *a, size_t an, const uint32_t *m, size_t n)
{
    uint32_t rest[MODULUS_LIMBS + 1];
    memcpy(rest, a, an * sizeof *a);
    rest[an] = 0;
    for (size_t j = an - n + 1; j-- > 0;) {
        /* The top bit of m is set, so that this estimate is at most two too large (Knuth 4.3.1). */
        uint32_t *top = rest + j + n;
        uint32_t estimate = UINT32_MAX;
        if (top[0] < m[n - 1]) {
            estimate = (uint32_t)(((uint64_t)top[0] << 32 | top[-1]) / m[n - 1]);
        }
        uint32_t over = mul_sub(rest + j, m, n, estimate);
        uint32_t negative = top[0] < over;
        top[0] -= over;
        while (negative) {
            uint32_t carry = bn_add(rest + j, m, n);
            top[0] += carry;
            negative = !(carry && top[0] == 0);
        }
    }
    memcpy(r, rest, n * sizeof *r);
}
