/* SPDX-License-Identifier: MIT */
/* Functions put into others, two deep, on both sides of real calls. No library: nobody else's names
 * in its chains. */
#define NESTED static inline __attribute__((always_inline))
#define REAL __attribute__((noinline, noclone))

volatile unsigned sum;

NESTED void inner(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        sum += i * sum;
}

NESTED void middle(unsigned count)
{
    inner(count);
    sum++;
}

REAL void worker(unsigned count)
{
    middle(count);
    sum++;
}

NESTED void wrapper(unsigned count)
{
    worker(count);
    sum++;
}

REAL void again(unsigned depth, unsigned count)
{
    if (depth)
        again(depth - 1, count);
    else
        wrapper(count);
    sum++;
}

REAL int run(void)
{
    for (unsigned i = 0; i < 60; i++)
        again(i % 4, 200000);
    return 0;
}

__attribute__((naked, noreturn, used)) void _start(void)
{
    __asm__(".cfi_undefined rip\n xor %ebp, %ebp\n and $-16, %rsp\n call run\n mov %eax, %edi\n "
            "mov $231, %eax\n syscall\n hlt");
}
