/* SPDX-License-Identifier: MIT */
/* BPF programs of the header. */
#include "render/about/header.h"
#include "format/bpf.h"
#include <stdlib.h>

static void put_name(const struct pd_recording *recording, const struct pd_part_bpf_prog *program,
                     uint32_t index, struct pd_text *out)
{
    pd_bpf_put_name(program, &recording->features.bpf_btf, recording->swap, index, out);
}

static void put_place(const struct pd_recording *recording, const struct pd_part_bpf_prog *program,
                      uint32_t index, struct pd_text *out)
{
    const struct pd_part_bpf_prog_info *info = &program->info;
    const uint8_t *start = pd_bpf_entry(program, PD_BPF_JITED_KSYMS, info->jited_ksyms, index, 8);
    const uint8_t *length = pd_bpf_entry(program, PD_BPF_JITED_FUNC_LENS, info->jited_func_lens,
                                         index, 4);
    pd_text_format(out, " addr 0x%llx size %u\n",
                   (unsigned long long)(start ? pd_load64(start, recording->swap) : 0),
                   length ? pd_load32(length, recording->swap) : 0);
}

static void put_program(const struct pd_recording *recording,
                        const struct pd_part_bpf_prog *program, struct pd_text *out)
{
    const struct pd_part_bpf_prog_info *info = &program->info;
    uint32_t count = info->nr_jited_ksyms;
    if (count != info->nr_prog_tags || count != info->nr_jited_func_lens)
        return;
    pd_text_format(out, "# bpf_prog_info %u:", info->id);
    if (count != 1)
        pd_text_char(out, '\n');
    for (uint32_t i = 0; i < count && (uint64_t)i * 8 < program->data.size; i++) {
        if (count == 1)
            pd_text_char(out, ' ');
        else
            pd_text_format(out, "# \tsub_prog %u: ", i);
        put_name(recording, program, i, out);
        put_place(recording, program, i, out);
    }
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = (*(const struct pd_part_bpf_prog *const *)a)->info.id;
    uint32_t y = (*(const struct pd_part_bpf_prog *const *)b)->info.id;
    return (x > y) - (x < y);
}

/* perf keeps programs by their ids, so that one that is in the list twice counts once. */
void pd_header_bpf(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_feature_bpf_prog_info *all = &recording->features.bpf_prog_info;
    if (!all->programs_count)
        return;
    const struct pd_part_bpf_prog **sorted = malloc(all->programs_count * sizeof *sorted);
    if (!sorted) {
        out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < all->programs_count; i++)
        sorted[i] = &all->programs[i];
    qsort(sorted, all->programs_count, sizeof *sorted, by_id);
    for (uint32_t i = 0; i < all->programs_count; i++)
        if (!i || sorted[i]->info.id != sorted[i - 1]->info.id)
            put_program(recording, sorted[i], out);
    free(sorted);
}
