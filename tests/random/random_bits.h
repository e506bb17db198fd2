/* Random numbers that depend only on a seed and a position. */
#ifndef TESTS_RANDOM_RANDOM_BITS_H
#define TESTS_RANDOM_RANDOM_BITS_H
#include <stdint.h>

static inline uint64_t random_bits(uint64_t seed, uint64_t k) {
    uint64_t x = seed * 0x9e3779b97f4a7c15u + k * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
#endif
