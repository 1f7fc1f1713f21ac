/* SPDX-License-Identifier: MIT */
/* BPF programs are named as the kernel names their symbols; function names come from their BTF. */
#include "format/bpf.h"
#include <stdlib.h>

enum { TAG_SIZE = 8, BTF_MAGIC = 0xeb9f, BTF_HEADER = 24 };

/* ---- BTF: only the names of types ---- */

struct btf {
    const uint8_t *types, *strings;
    size_t types_size, strings_size;
    bool swap;
};

static bool open_btf(const struct pd_feature_bpf_btf *all, bool swap, uint32_t id, struct btf *out)
{
    const struct pd_span *data = NULL;
    for (uint32_t i = 0; i < all->blobs_count && !data; i++)
        if (all->blobs[i].id == id)
            data = &all->blobs[i].data;
    if (!id || !data || data->size < BTF_HEADER || pd_load16(data->data, swap) != BTF_MAGIC)
        return false;
    uint64_t head = pd_load32(data->data + 4, swap), size = data->size;
    uint64_t types = head + pd_load32(data->data + 8, swap),
             strings = head + pd_load32(data->data + 16, swap);
    *out = (struct btf){ data->data + types, data->data + strings, pd_load32(data->data + 12, swap),
                         pd_load32(data->data + 20, swap), swap };
    return pd_range_ok(types, out->types_size, size) &&
           pd_range_ok(strings, out->strings_size, size);
}

/* Bytes that follow the 12 of a type, by its kind. */
static size_t btf_extra(unsigned kind, size_t count)
{
    switch (kind) {
    case 1:  /* INT */
    case 14: /* VAR */
    case 17: /* DECL_TAG */ return 4;
    case 3: /* ARRAY */ return 12;
    case 4:  /* STRUCT */
    case 5:  /* UNION */
    case 15: /* DATASEC */
    case 19: /* ENUM64 */ return 12 * count;
    case 6: /* ENUM */
    case 13: /* FUNC_PROTO */ return 8 * count;
    default: return 0;
    }
}

/* The name of type `wanted` (from 1), NULL. */
static const char *btf_name(const struct btf *btf, uint32_t wanted)
{
    size_t at = 0;
    for (uint32_t id = 1; at + 12 <= btf->types_size; id++) {
        const uint8_t *type = btf->types + at;
        uint32_t info = pd_load32(type + 4, btf->swap), name = pd_load32(type, btf->swap);
        if (id == wanted)
            return name < btf->strings_size &&
                           memchr(btf->strings + name, 0, btf->strings_size - name)
                       ? (const char *)btf->strings + name
                       : NULL;
        at += 12 + btf_extra(info >> 24 & 0x1f, info & 0xffff);
    }
    return NULL;
}

/* ---- programs ---- */

void pd_bpf_put_name(const struct pd_part_bpf_prog *program, const struct pd_feature_bpf_btf *btfs,
                     bool swap, uint32_t index, struct pd_text *out)
{
    const struct pd_part_bpf_prog_info *info = &program->info;
    const uint8_t *tag = pd_bpf_entry(program, PD_BPF_PROG_TAGS, info->prog_tags, index, TAG_SIZE);
    const char *function = NULL;
    struct btf btf;
    pd_text_string(out, "bpf_prog_");
    for (unsigned i = 0; tag && i < TAG_SIZE; i++)
        pd_text_hex(out, tag[i], 2, '0');
    if (open_btf(btfs, swap, info->btf_id, &btf)) {
        const uint8_t *entry = info->func_info_rec_size < 8
                                   ? NULL
                                   : pd_bpf_entry(program, PD_BPF_FUNC_INFO, info->func_info, index,
                                                  info->func_info_rec_size);
        function = entry ? btf_name(&btf, pd_load32(entry + 4, swap)) : NULL;
    } else if (index == 0 && info->nr_jited_ksyms == 1) {
        if (info->name.length)
            pd_text_format(out, "_%.*s", (int)info->name.length, info->name.text);
        return;
    } else {
        function = "F";
    }
    if (function)
        pd_text_format(out, "_%s", function);
}
