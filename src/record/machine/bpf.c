/* SPDX-License-Identifier: MIT */
/* Programs of BPF that the kernel has: what the header says of them, and their symbols as
 * records. */
#include "format/bpf.h"
#include "record/records.h"
#include <stdlib.h>
#include <unistd.h>

/* bpf(2): commands and where their arguments lie. */
enum { PROG_NEXT = 11, PROG_FD = 13, INFO = 15, BTF_FD = 19, ATTR_SIZE = 128 };

/* struct bpf_prog_info as perf writes it. */
enum {
    INFO_SIZE = 232,
    AT_BTF_ID = 128,
    MOST_PROGRAMS = 1 << 16,
    MOST_DATA = 1 << 26 /* of a program */
};

struct array {
    unsigned bit, count_at, size, size_at, pointer_at; /* size 0: it is at size_at */
};

static const struct array arrays[] = {
    { PD_BPF_JITED_INSNS, 16, 1, 0, 24 },       { PD_BPF_JITED_KSYMS, 104, 8, 0, 112 },
    { PD_BPF_JITED_FUNC_LENS, 108, 4, 0, 120 }, { PD_BPF_FUNC_INFO, 144, 0, 132, 136 },
    { PD_BPF_LINE_INFO, 148, 0, 172, 152 },     { PD_BPF_JITED_LINE_INFO, 168, 0, 176, 160 },
    { PD_BPF_PROG_TAGS, 180, 8, 0, 184 },
};

static int call(const perfdata_recorder *recorder, int command, uint8_t attr[ATTR_SIZE])
{
    return recorder->calls.bpf(recorder->calls.data, command, attr, ATTR_SIZE);
}

static int open_id(const perfdata_recorder *recorder, int command, uint32_t id)
{
    uint8_t attr[ATTR_SIZE] = { 0 };
    pd_store32(attr, id, false);
    return call(recorder, command, attr);
}

static bool get_info(const perfdata_recorder *recorder, int fd, uint8_t *info, uint32_t size)
{
    uint8_t attr[ATTR_SIZE] = { 0 };
    pd_store32(attr, (uint32_t)fd, false);
    pd_store32(attr + 4, size, false);
    pd_store64(attr + 8, (uint64_t)(uintptr_t)info, false);
    return call(recorder, INFO, attr) >= 0;
}

/* ---- a program ---- */

static uint64_t array_size(const struct array *array, const uint8_t *info)
{
    uint64_t size = array->size ? array->size : pd_load32(info + array->size_at, false);
    return size * pd_load32(info + array->count_at, false); /* of 32 bits each */
}

/* Prepares the second question: the same counts, now with room for the arrays; as in perf, empty
 * ones are asked for, too. The bytes of all arrays; 0: too many. */
static size_t lay_out(const uint8_t *first, uint8_t *second, uint8_t *data, uint64_t *present)
{
    uint64_t total = 0;
    *present = 0;
    for (size_t i = 0; i < PD_LENGTH(arrays); i++) {
        const struct array *array = &arrays[i];
        uint64_t size = array_size(array, first);
        if (size > MOST_DATA || total + size > MOST_DATA)
            return 0;
        *present |= UINT64_C(1) << array->bit;
        memcpy(second + array->count_at, first + array->count_at, 4);
        if (!array->size)
            memcpy(second + array->size_at, first + array->size_at, 4);
        pd_store64(second + array->pointer_at, (uint64_t)(uintptr_t)(data + total), false);
        total += pd_align8(size);
    }
    return (size_t)total;
}

/* Turns pointers into offsets. False: the second answer does not agree with the first. */
static bool settle(const uint8_t *first, uint8_t *info, const uint8_t *data)
{
    for (size_t i = 0; i < PD_LENGTH(arrays); i++) {
        const struct array *array = &arrays[i];
        if (array_size(array, info) != array_size(array, first))
            return false;
        uint64_t pointer = pd_load64(info + array->pointer_at, false);
        if (pointer)
            pd_store64(info + array->pointer_at, pointer - (uint64_t)(uintptr_t)data, false);
    }
    return true;
}

static bool add_program(perfdata_recorder *recorder, int fd, uint32_t *btf)
{
    uint8_t first[INFO_SIZE] = { 0 }, info[INFO_SIZE] = { 0 }, head[16];
    uint64_t present;
    if (!get_info(recorder, fd, first, INFO_SIZE))
        return false;
    size_t size = lay_out(first, info, NULL, &present);
    uint8_t *data = size ? calloc(1, size) : NULL;
    if (data)
        (void)lay_out(first, info, data, &present);
    bool good = data && get_info(recorder, fd, info, INFO_SIZE) && settle(first, info, data);
    if (good) {
        struct pd_text *out = &recorder->bpf.programs;
        pd_store32(head, INFO_SIZE, false);
        pd_store32(head + 4, (uint32_t)size, false);
        pd_store64(head + 8, present, false);
        pd_text_bytes(out, head, sizeof head);
        pd_text_bytes(out, info, sizeof info);
        pd_text_bytes(out, data, size);
        *btf = pd_load32(info + AT_BTF_ID, false);
    }
    free(data);
    return good;
}

/* ---- types ---- */

static bool known(const struct pd_numbers *numbers, uint32_t id)
{
    return pd_numbers_have(numbers, (int32_t)id);
}

static bool add_btf(perfdata_recorder *recorder, uint32_t id)
{
    enum { SIZE = 16 }; /* u64 pointer, u32 size, u32 id */
    uint8_t info[SIZE] = { 0 }, head[8];
    int fd = open_id(recorder, BTF_FD, id);
    if (fd < 0)
        return false;
    bool good = get_info(recorder, fd, info, SIZE);
    uint32_t size = pd_load32(info + 8, false);
    uint8_t *data = good && size && size <= MOST_DATA ? calloc(1, size) : NULL;
    pd_store64(info, (uint64_t)(uintptr_t)data, false);
    good = data && get_info(recorder, fd, info, SIZE) && pd_load32(info + 8, false) == size;
    close(fd);
    if (good) {
        pd_store32(head, id, false);
        pd_store32(head + 4, size, false);
        pd_text_bytes(&recorder->bpf.types, head, sizeof head);
        pd_text_bytes(&recorder->bpf.types, data, size);
    }
    free(data);
    return good;
}

/* ---- all of them ---- */

static bool next_id(const perfdata_recorder *recorder, uint32_t *id)
{
    uint8_t attr[ATTR_SIZE] = { 0 };
    pd_store32(attr, *id, false);
    if (call(recorder, PROG_NEXT, attr) < 0)
        return false;
    *id = pd_load32(attr + 4, false);
    return true;
}

static perfdata_status set_feature(perfdata_recorder *recorder, unsigned feature, size_t count,
                                   const struct pd_text *entries)
{
    struct pd_text payload = { 0 };
    uint8_t head[4];
    pd_store32(head, (uint32_t)count, false);
    pd_text_bytes(&payload, head, sizeof head);
    pd_text_bytes(&payload, entries->data, entries->length);
    perfdata_status status = payload.failed || entries->failed
                                 ? pd_record_no_memory(recorder)
                                 : pd_writer_set_feature(recorder->output.writer, feature,
                                                         payload.data, payload.length);
    pd_text_free(&payload);
    return status;
}

/* As perf: without BPF_EVENT records the programs are not described either, but their types are. */
static bool describes(const perfdata_recorder *recorder)
{
    return !pd_record_flag(recorder, PERFDATA_RECORDER_NO_BPF_EVENT) &&
           !recorder->targets.per_thread;
}

perfdata_status pd_bpf_read(perfdata_recorder *recorder)
{
    struct pd_bpf *bpf = &recorder->bpf;
    uint32_t id = 0;
    for (unsigned i = 0; i < MOST_PROGRAMS && recorder->calls.bpf && next_id(recorder, &id); i++) {
        uint32_t btf = 0;
        if (known(&bpf->program_ids, id))
            continue;
        int fd = open_id(recorder, PROG_FD, id);
        bool added = fd >= 0 && add_program(recorder, fd, &btf);
        if (fd >= 0)
            close(fd);
        if (!added)
            continue; /* it has gone, or may not be seen */
        if (!pd_vec_push(&bpf->program_ids, (int32_t)id))
            return pd_record_no_memory(recorder);
        if (btf && !known(&bpf->type_ids, btf) && add_btf(recorder, btf) &&
            !pd_vec_push(&bpf->type_ids, (int32_t)btf))
            return pd_record_no_memory(recorder);
    }
    return PERFDATA_OK;
}

perfdata_status pd_bpf_set_features(perfdata_recorder *recorder)
{
    static const struct pd_text nothing;
    const struct pd_bpf *bpf = &recorder->bpf;
    bool all = describes(recorder);
    perfdata_status status = set_feature(recorder, PD_FEATURE_BPF_PROG_INFO,
                                         all ? bpf->program_ids.count : 0,
                                         all ? &bpf->programs : &nothing);
    return status < 0 ? status
                      : set_feature(recorder, PD_FEATURE_BPF_BTF, bpf->type_ids.count, &bpf->types);
}

/* ---- records ---- */

static perfdata_status put_symbol(perfdata_recorder *recorder, const struct pd_features *features,
                                  const struct pd_part_bpf_prog *program, uint32_t index)
{
    enum { TYPE_BPF = 1 };
    const struct pd_part_bpf_prog_info *info = &program->info;
    const uint8_t *start = pd_bpf_entry(program, PD_BPF_JITED_KSYMS, info->jited_ksyms, index, 8);
    const uint8_t *length = pd_bpf_entry(program, PD_BPF_JITED_FUNC_LENS, info->jited_func_lens,
                                         index, 4);
    struct pd_made made = { 0 };
    struct pd_text name = { 0 };
    if (!start || !length)
        return PERFDATA_OK;
    pd_bpf_put_name(program, &features->bpf_btf, false, index, &name);
    pd_text_char(&name, 0);
    pd_made_begin(&made, PD_RECORD_KSYMBOL, 0);
    pd_made_bytes(&made, start, 8);
    pd_made_bytes(&made, length, 4);
    pd_made_u16(&made, TYPE_BPF);
    pd_made_u16(&made, 0);
    pd_made_text(&made, name.failed ? "" : name.data, 8);
    pd_text_free(&name);
    return pd_made_put(recorder, &made, recorder->trailer);
}

static perfdata_status put_program(perfdata_recorder *recorder, const struct pd_features *features,
                                   const struct pd_part_bpf_prog *program)
{
    const struct pd_part_bpf_prog_info *info = &program->info;
    perfdata_status status = PERFDATA_OK;
    struct pd_made made = { 0 };
    uint32_t count = info->nr_jited_ksyms;
    if (count != info->nr_prog_tags || count != info->nr_jited_func_lens)
        return PERFDATA_OK;
    for (uint32_t i = 0; i < count && status == PERFDATA_OK; i++)
        status = put_symbol(recorder, features, program, i);
    if (status < 0 || !describes(recorder))
        return status;
    pd_made_begin(&made, PD_RECORD_BPF_EVENT, 0);
    pd_made_u16(&made, PD_BPF_EVENT_PROG_LOAD);
    pd_made_u16(&made, 0);
    pd_made_u32(&made, info->id);
    pd_made_bytes(&made, info->tag, 8);
    return pd_made_put(recorder, &made, recorder->trailer);
}

static perfdata_status decode(const struct pd_text *entries, size_t count, unsigned feature,
                              struct pd_features *out, struct pd_arena *arena,
                              struct pd_context *context)
{
    struct pd_text payload = { 0 };
    uint8_t head[4];
    pd_store32(head, (uint32_t)count, false);
    pd_text_bytes(&payload, head, sizeof head);
    pd_text_bytes(&payload, entries->data, entries->length);
    uint8_t *bytes = payload.failed ? NULL : pd_arena_alloc(arena, payload.length);
    if (bytes)
        memcpy(bytes, payload.data, payload.length);
    size_t size = payload.length;
    pd_text_free(&payload);
    return bytes ? pd_feature_decode(out, feature, bytes, size, false, arena, context, 0)
                 : PERFDATA_ERROR_MEMORY;
}

perfdata_status pd_bpf_put_records(perfdata_recorder *recorder)
{
    const struct pd_bpf *bpf = &recorder->bpf;
    struct pd_context context;
    struct pd_arena arena = { 0 };
    if (!bpf->program_ids.count)
        return PERFDATA_OK;
    struct pd_features *features = calloc(1, sizeof *features);
    pd_context_init(&context);
    perfdata_status status = features ? decode(&bpf->types, bpf->type_ids.count, PD_FEATURE_BPF_BTF,
                                               features, &arena, &context)
                                      : PERFDATA_ERROR_MEMORY;
    if (status == PERFDATA_OK)
        status = decode(&bpf->programs, bpf->program_ids.count, PD_FEATURE_BPF_PROG_INFO, features,
                        &arena, &context);
    if (status < 0)
        status = pd_record_no_memory(recorder);
    for (uint32_t i = 0;
         features && status == PERFDATA_OK && i < features->bpf_prog_info.programs_count; i++)
        status = put_program(recorder, features, &features->bpf_prog_info.programs[i]);
    pd_arena_free(&arena);
    pd_context_fini(&context);
    free(features);
    return status;
}

void pd_bpf_free(struct pd_bpf *bpf)
{
    pd_text_free(&bpf->programs);
    pd_text_free(&bpf->types);
    pd_vec_free(&bpf->program_ids);
    pd_vec_free(&bpf->type_ids);
}
