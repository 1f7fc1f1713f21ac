/* SPDX-License-Identifier: MIT */
/* Runs code in memory without a file, x86-64 only, and writes a perf map of it by the pid that it knows. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
    /* mov $200000000,%ecx; 1: dec %ecx; jnz 1b; ret */
    static const unsigned char code[] = { 0xb9, 0x00, 0xc2, 0xeb, 0x0b, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
    char name[64];
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return 1;
    memcpy(at, code, sizeof code);
    snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
    FILE *map = fopen(name, "w");
    if (!map)
        return 1;
    fprintf(map, "%lx %zx container_jit\n", (unsigned long)at, sizeof code);
    fclose(map);
    for (int i = 0; i < 100; i++)
        ((void (*)(void))at)();
    return 0;
}
