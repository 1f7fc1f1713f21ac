/* SPDX-License-Identifier: MIT */
/* The inside of frame rules, for rules.c and step.c only. */
#ifndef PD_FRAME_TABLE_H
#define PD_FRAME_TABLE_H
#include "object/elf/file.h"
#include "object/frames/rules.h"
#include <elfutils/libdw.h>
#include <pthread.h>

struct pd_frame_rules {
    pthread_mutex_t lock; /* libdw reads entries as they are asked for */
    struct pd_elf elf;
    bool is_open;
    void *image;      /* the file's bytes, if it has no path */
    Dwarf_CFI *table; /* NULL: none; of the ELF handle */
};

#endif
