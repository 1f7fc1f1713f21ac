/* SPDX-License-Identifier: MIT */
/* Files that become shorter while they are read: programs, libraries, debug files and dumps are
 * mapped, by us and by libelf, and reading what is no longer there would end the process with
 * SIGBUS. The process reads zeros there instead, and says so. */
#include "tool/tool.h"
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile sig_atomic_t was_cut;
static uintptr_t page_size;

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    void *page = (void *)((uintptr_t)info->si_addr & ~(page_size - 1)); /* NOLINT: a number */
    if (info->si_code != BUS_ADRERR ||
        mmap(page, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == MAP_FAILED)
        signal(number, SIG_DFL); /* some other fault: it comes again and ends the process */
    else
        was_cut = 1;
    errno = saved;
}

void tool_guard_files(void)
{
    struct sigaction action = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

bool tool_file_was_cut(void)
{
    return was_cut;
}
