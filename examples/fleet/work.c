/* SPDX-License-Identifier: MIT */
/* A service to be recorded: RELEASE 2 has a slower parse(). Argument 1: how much it serves; 2: how
 * much render() costs there. */
#include <stdlib.h>

#ifndef RELEASE
#define RELEASE 1
#endif

static volatile unsigned long sink;

__attribute__((noinline)) static void spin(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        sink += i;
}
__attribute__((noinline)) static void parse(void)
{
    for (unsigned long i = 0; i < 20000ul * RELEASE; i++)
        sink ^= i * 3;
}
__attribute__((noinline)) static void render(unsigned long cost)
{
    for (unsigned long i = 0; i < 10000 * cost; i++)
        sink ^= i * 5;
}
__attribute__((noinline)) static void serve(unsigned long cost)
{
    parse();
    render(cost);
    spin(20000);
}

int main(int argc, char **argv)
{
    unsigned long requests = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    unsigned long cost = argc > 2 ? strtoul(argv[2], NULL, 10) : 2;
    for (unsigned long i = 0; i < requests; i++)
        serve(cost);
    return 0;
}
