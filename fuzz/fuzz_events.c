/* SPDX-License-Identifier: MIT */
/* perf's -e under the running machine's sysfs; address filters with the symbols of a small
 * kernel. */
#include "record/events/events.h"
#include "record/events/filter.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[] = "/tmp/perfdata-fuzz-XXXXXX";

static void remove_root(void)
{
    char path[100];
    snprintf(path, sizeof path, "%s/proc/kallsyms", root);
    unlink(path);
    snprintf(path, sizeof path, "%s/proc", root);
    rmdir(path);
    rmdir(root);
}

/* Symbols with the letters that inputs have often, some of them twice. */
static void make_root(void)
{
    char path[100];
    if (!mkdtemp(root))
        abort();
    snprintf(path, sizeof path, "%s/proc", root);
    if (mkdir(path, 0700))
        abort();
    snprintf(path, sizeof path, "%s/proc/kallsyms", root);
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    static const char letters[] = "aabbccddeeffgghhiijjkkllmmnnooppqqrrssttuuvvwwxxyyzz_text";
    for (unsigned i = 0; i < 64; i++)
        fprintf(file, "%x %c %.*s\n", 0x81000000 + i * 64, i & 1 ? 'T' : 't', 1 + (int)i % 4,
                &letters[i % 50]);
    fclose(file);
    atexit(remove_root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    struct pd_context context;
    struct pd_events events = { .guests = size & 1, .no_host = size & 2 };
    struct pd_roots roots = { NULL }, small = { root };
    struct pd_text filter = { 0 };
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (!made)
        make_root();
    made = true;
    memcpy(text, data, size);
    text[size] = 0;
    pd_context_init(&context);
    (void)pd_events_parse(&context, &roots, text, &events);
    pd_events_free(&events);
    /* files are read by targets of their own */
    if (!strpbrk(text, "@"))
        (void)pd_filter_resolve(&context, &small, text, &filter);
    pd_text_free(&filter);
    pd_context_fini(&context);
    free(text);
    return 0;
}
