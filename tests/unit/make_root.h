/* SPDX-License-Identifier: MIT */
/* Files below a folder that stands for / : a sysfs of the test's own. */
#ifndef MAKE_ROOT_H
#define MAKE_ROOT_H
#include "test.h"
#include <sys/stat.h>

/* The text as a line; folders on the way are made. */
static inline void root_put(const char *root, const char *path, const char *text)
{
    char full[600];
    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *at = full + strlen(root) + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            (void)mkdir(full, 0700);
            *at = '/';
        }
    FILE *file = fopen(full, "w");
    CHECK(file != NULL);
    if (file) {
        fprintf(file, "%s\n", text);
        fclose(file);
    }
}

#endif
