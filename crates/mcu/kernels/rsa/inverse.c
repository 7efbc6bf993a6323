/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Modular inverse by the binary extended gcd, HAC 14.61, both cofactors kept, since the modulus may
 * be even; the gcd itself is taken first (HAC 14.54), as a library that reports "no inverse" does.
 */
#include "bignum.h"
#include "memory.h"

/* Two's complement, one limb longer than what bounds them. */
static uint32_t u[MODULUS_LIMBS + 1], v[MODULUS_LIMBS + 1];
static uint32_t big_u[MODULUS_LIMBS + 1], big_v[MODULUS_LIMBS + 1];
static uint32_t small_u[PRIME_LIMBS + 1], small_v[PRIME_LIMBS + 1];

/* A number while the algorithm runs, with its two cofactors: n limbs bounded by m, an by a. */
struct row {
    uint32_t *value;
    uint32_t *of_a;
    uint32_t *of_m;
    size_t length;
};

static void halve(uint32_t *d, size_t n)
{
    bn_shift_right(d, n, d[n - 1] >> 31);
}

/* d += s, or -= s, where s is shorter: sign-extends nothing, s is not negative. */
static void add_short(uint32_t *d, size_t n, const uint32_t *s, size_t sn)
{
    uint32_t carry = bn_add(d, s, sn);
    for (size_t i = sn; carry && i < n; i++) {
        carry = ++d[i] == 0;
    }
}

static void sub_short(uint32_t *d, size_t n, const uint32_t *s, size_t sn)
{
    uint32_t borrow = bn_sub(d, s, sn);
    for (size_t i = sn; borrow && i < n; i++) {
        borrow = d[i]-- == 0;
    }
}

static void halve_row(struct row *row, const uint32_t *a, size_t an, const uint32_t *m, size_t n)
{
    while ((row->value[0] & 1) == 0) {
        bn_shift_right(row->value, row->length, 0);
        if ((row->of_a[0] | row->of_m[0]) & 1) {
            add_short(row->of_a, n + 1, m, n);
            sub_short(row->of_m, an + 1, a, an);
        }
        halve(row->of_a, n + 1);
        halve(row->of_m, an + 1);
    }
}

static void subtract_row(struct row *from, const struct row *row, size_t an, size_t n)
{
    size_t shorter = from->length < row->length ? from->length : row->length;
    sub_short(from->value, from->length, row->value, shorter);
    bn_sub(from->of_a, row->of_a, n + 1);
    bn_sub(from->of_m, row->of_m, an + 1);
}

static int is_zero(const uint32_t *d, size_t n)
{
    while (n-- > 0) {
        if (d[n] != 0) {
            return 0;
        }
    }
    return 1;
}

/* Compares numbers of different lengths. */
static int compare(const uint32_t *a, size_t an, const uint32_t *b, size_t bn)
{
    for (; an > bn; an--) {
        if (a[an - 1] != 0) {
            return 1;
        }
    }
    for (; bn > an; bn--) {
        if (b[bn - 1] != 0) {
            return -1;
        }
    }
    return bn_compare(a, b, an);
}

static void strip(uint32_t *d, size_t n)
{
    while ((d[0] & 1) == 0) {
        bn_shift_right(d, n, 0);
    }
}

/* One of the two is odd. */
static int coprime(const uint32_t *a, size_t an, const uint32_t *m, size_t n)
{
    memcpy(u, a, an * sizeof *a);
    memcpy(v, m, n * sizeof *m);
    while (!is_zero(u, an)) {
        strip(u, an);
        strip(v, n);
        if (compare(u, an, v, n) >= 0) {
            sub_short(u, an, v, an < n ? an : n);
        } else {
            sub_short(v, n, u, an);
        }
    }
    uint32_t one = 1;
    return compare(v, n, &one, 1) == 0;
}

int bn_inverse(uint32_t *inverse, const uint32_t *a, size_t an, const uint32_t *m, size_t n)
{
    if (!coprime(a, an, m, n)) {
        return 0;
    }
    memcpy(u, a, an * sizeof *a);
    memcpy(v, m, n * sizeof *m);
    memset(big_u, 0, sizeof big_u);
    memset(big_v, 0, sizeof big_v);
    memset(small_u, 0, sizeof small_u);
    memset(small_v, 0, sizeof small_v);
    big_u[0] = 1;
    small_v[0] = 1;
    struct row row_u = { u, big_u, small_u, an }, row_v = { v, big_v, small_v, n };
    while (!is_zero(u, an)) {
        halve_row(&row_u, a, an, m, n);
        halve_row(&row_v, a, an, m, n);
        if (compare(u, an, v, n) >= 0) {
            subtract_row(&row_u, &row_v, an, n);
        } else {
            subtract_row(&row_v, &row_u, an, n);
        }
    }
    while (big_v[n] >> 31) {
        add_short(big_v, n + 1, m, n);
    }
    while (compare(big_v, n + 1, m, n) >= 0) {
        sub_short(big_v, n + 1, m, n);
    }
    memcpy(inverse, big_v, n * sizeof *inverse);
    return 1;
}
