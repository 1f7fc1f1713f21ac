/* SPDX-License-Identifier: MIT */
/* What was recorded: functions that have no name for the linker (lambdas, static ones, what is in an unnamed namespace), put
 * into one another and into some that have one; with ranges of addresses, which clang tells by number. nameless-g and nameless-c
 * are g++ and clang++ -O2 -g -gz of it. */
#include <stdio.h>
#include <stdlib.h>

struct Numbers {
    unsigned *at;
    unsigned count;
    template <typename F> void each(F f) const
    {
        for (unsigned i = 0; i < count; i++)
            f(at[i]);
    }
    template <typename Less> void sort(Less less)
    {
        for (unsigned i = 1; i < count; i++)
            for (unsigned k = i; k && less(at[k], at[k - 1]); k--) {
                unsigned other = at[k];
                at[k] = at[k - 1];
                at[k - 1] = other;
            }
    }
};

namespace
{
template <typename T> struct Mixer {
    T state;
    T step(T value)
    {
        for (int i = 0; i < 7; i++)
            state = state * 31 ^ (value + (T)i) % 7;
        return state;
    }
};
unsigned fold(const Numbers &numbers, unsigned seed)
{
    Mixer<unsigned> mixer{ seed };
    numbers.each([&](unsigned value) {
        if (value % 3 == 0)
            mixer.step(value);
        else
            mixer.step(value ^ seed);
    });
    return mixer.state;
}
} // namespace

static unsigned fib(unsigned n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static unsigned round_of(Numbers numbers, unsigned seed)
{
    unsigned total = 0;
    for (unsigned i = 0; i < numbers.count; i++)
        numbers.at[i] = (i * 7919 + seed) % 3001;
    numbers.sort([seed](unsigned a, unsigned b) { return ((a * 13) ^ seed) < ((b * 13) ^ seed); });
    numbers.each([&](unsigned value) { total += value % (seed | 1); });
    return total + fold(numbers, seed) + fib(18);
}

int main(int argc, char **argv)
{
    unsigned room[300], total = 0, rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 300;
    for (unsigned i = 0; i < rounds; i++)
        total ^= round_of(Numbers{ room, 300 }, i + (unsigned)argc);
    printf("%u\n", total);
}
