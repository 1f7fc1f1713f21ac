/* SPDX-License-Identifier: MIT */
#include <perfdata/status.h>
#include <stdio.h>

int main(void)
{
    puts(perfdata_status_text(0));
    return 0;
}
