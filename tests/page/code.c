/* SPDX-License-Identifier: MIT */
/* The program of tests/page/code.pdt, whose source a page shows. */
volatile unsigned long sink;

void spin(unsigned long turns)
{
    for (unsigned long i = 0; i < turns; i++) {
        sink += i * 3; /* <b>not markup</b> */
    }
}

void _start(void)
{
    spin(1000);
    for (;;)
        continue;
}
