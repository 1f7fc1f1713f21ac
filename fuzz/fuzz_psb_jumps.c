/* SPDX-License-Identifier: MIT */
/* From PSB to PSB by a stored index: the input is some settings and a trace, of which an index is
 * kept; the steps are the same with and without it. Or the index itself is the input's, but for
 * what is checked of it: it may be refused, or mislead, but ends. */
#include "../tests/unit/walk_psb_jumps.h"
#include "io/at.h"
#include "itrace/aux/index_file.h"
#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SETTINGS = 8, COPIES = 4 };

/* The trace several times, for runs need some PSBs. */
static bool make(struct aux_file *file, const uint8_t *bytes, size_t size)
{
    struct file f = file_begin(false);
    file_event(&f, AUX_IP_TID_TIME, AUX_ID_ALL, 0, NULL);
    file_data(&f);
    aux_info(&f, "");
    uint8_t *copies = malloc(COPIES * size);
    for (size_t i = 0; copies && i < COPIES; i++)
        memcpy(copies + i * size, bytes, size);
    if (!copies)
        abort();
    aux_trace(&f, 0, 0, copies, COPIES * size);
    aux_trace(&f, 0, 0, bytes, size);
    free(copies);
    file_end(&f);
    bool made = aux_file_make(file, &f);
    file_free(&f);
    return made;
}

/* What is behind the head comes from the input, with the rows and the head of a real one. */
static void write_hostile(const struct aux_file *file, const uint8_t *bytes, size_t size)
{
    struct pd_index_head head;
    struct pd_index_row rows[2];
    int fd = open(file->index, O_RDWR);
    if (fd < 0 || read(fd, &head, sizeof head) != sizeof head || head.rows != 2 ||
        pread(fd, rows, sizeof rows,
              (off_t)(sizeof head + head.psb_jumps * sizeof(struct pd_pt_psb_jump))) != sizeof rows)
        abort();
    head.runs = size / 2 / sizeof(struct pd_index_run);
    rows[0].first_run = rows[0].first_entry = rows[1].first_entry = 0;
    rows[1].first_run = size > 1 && (bytes[1] & 7) < head.runs ? bytes[1] & 7 : head.runs;
    head.psb_jumps = size / 2 / sizeof(struct pd_pt_psb_jump);
    head.entries = 0;
    struct pd_index_run *runs = calloc(head.runs + 1, sizeof *runs);
    struct pd_pt_psb_jump *psb_jumps = calloc(head.psb_jumps + 1, sizeof *psb_jumps);
    if (!runs || !psb_jumps)
        abort();
    memcpy(psb_jumps, bytes, head.psb_jumps * sizeof *psb_jumps);
    memcpy(runs, bytes + size / 2, head.runs * sizeof *runs);
    uint64_t at = 0;
    for (uint64_t i = 0; i < head.runs; i++) { /* as if they had been written so */
        at = i == rows[1].first_run ? 0 : at;
        runs[i].first = at + runs[i].first % 256;
        runs[i].resume = at = runs[i].first + 1 + runs[i].resume % 256;
        runs[i].psb_jumps = 1 + runs[i].psb_jumps % 8;
        runs[i].told_count = 1 + runs[i].told_count % 2;
        runs[i].first_jump %= 16;
        if (runs[i].first_jump + runs[i].psb_jumps <= head.psb_jumps)
            runs[i].checksum = pd_digest(psb_jumps + runs[i].first_jump,
                                         runs[i].psb_jumps * sizeof *psb_jumps, 0);
    }
    head.checksum = pd_index_checksum(&head, rows, NULL, runs);
    if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) || !pd_write_all(fd, &head, sizeof head) ||
        !pd_write_all(fd, psb_jumps, head.psb_jumps * sizeof *psb_jumps) ||
        !pd_write_all(fd, rows, sizeof rows) || !pd_write_all(fd, runs, head.runs * sizeof *runs) ||
        close(fd))
        abort();
    free(runs);
    free(psb_jumps);
}

/* It ends. */
static void walk_misled(const struct aux_file *file, const struct pd_pt_config *config)
{
    struct leaps_walk walk;
    if (!leaps_begin(&walk, file->aux, *config, true))
        abort();
    while (pd_pt_decode(walk.decoder, UINT64_MAX))
        continue;
    leaps_end(&walk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < SETTINGS + 1)
        return 0;
    struct aux_file file;
    struct leaps_walk with;
    const uint8_t *bytes = data + SETTINGS;
    const bool hostile = data[0] & 1;
    size -= SETTINGS;
    size_t trace = hostile ? size - size / 2 : size;
    if (!make(&file, bytes, trace) || pd_aux_index_store(file.aux) < 0)
        abort();
    if (hostile)
        write_hostile(&file, bytes + trace, size - trace);
    if (pd_aux_index_load(file.aux) < 0 || (!hostile && !file.aux->index))
        abort();
    struct pd_pt_config config = leaps_config(data[1] & 1   ? PD_PT_ALL_STEPS
                                              : data[1] & 2 ? PD_PT_INSTRUCTION
                                              : data[1] & 4 ? PD_PT_PSB_EVENT
                                                            : 0);
    config.cyc_threshold = data[2] & 1;
    config.tsc_ctc_d = data[2] >> 1 & 3;
    config.max_non_turbo_ratio = data[3];
    config.timeful = data[0] >> 1 & 1;
    config.branches = data[0] >> 2 & 1;
    if (hostile)
        walk_misled(&file, &config);
    else if (leaps_compare(file.aux, &config, data[4] ? (uint64_t)data[4] << (data[5] & 31) : 0,
                           &with) == SIZE_MAX)
        abort();
    aux_file_remove(&file);
    return 0;
}
