/* SPDX-License-Identifier: MIT */
/* How many samples a stream of hotspot-perfparser's on standard input holds: 16 bytes, then
 * messages with their length in front; those of kinds 13 and 14 are samples. */
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    enum { HEAD = 16, SAMPLE = 13, TRACEPOINT_SAMPLE = 14 };
    uint8_t size[4];
    unsigned long samples = 0;
    for (int i = 0; i < HEAD; i++)
        if (getchar() == EOF)
            break;
    while (fread(size, 1, sizeof size, stdin) == sizeof size) {
        uint32_t left = size[0] | size[1] << 8 | size[2] << 16 | (uint32_t)size[3] << 24;
        int kind = left ? getchar() : EOF;
        samples += kind == SAMPLE || kind == TRACEPOINT_SAMPLE;
        while (left > 1 && getchar() != EOF)
            left--;
    }
    printf("%lu\n", samples);
    return 0;
}
