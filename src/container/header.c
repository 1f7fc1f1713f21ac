/* SPDX-License-Identifier: MIT */
/* The file header: magic, byte order, sections and their bytes, and the bitmap in its three
 * shapes. */
#include "container/internal.h"

enum { HEADER_OLD = 72, HEADER_NEW = 104, HEADER_PIPE = 16, MIN_ENTRY = 64 + 16 };

static perfdata_status read_bytes(struct pd_recording *recording, uint8_t bytes[HEADER_NEW],
                                  size_t *got)
{
    struct pd_context *context = &recording->context;
    perfdata_status status = pd_source_read_least(recording->source, 0, bytes, HEADER_PIPE,
                                                  HEADER_NEW, got);
    if (status < 0)
        return status;
    if (*got == 0)
        return pd_fail(context, PERFDATA_ERROR_EMPTY, 0, "%s: zero-sized data, nothing to do",
                       recording->path);
    return PERFDATA_OK;
}

static perfdata_status not_perf_data(struct pd_recording *recording)
{
    return pd_fail(&recording->context, PERFDATA_ERROR_NOT_PERF_DATA, 0,
                   "%s: incompatible file format: not a perf.data recording", recording->path);
}

static bool is_big_endian_host(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 0;
}

static void set_order(struct pd_recording *recording, bool big_endian)
{
    recording->big_endian = big_endian;
    recording->swap = big_endian != is_big_endian_host();
}

/* Version 1 does not tell its order by the magic: the entry size must make sense. */
static bool guess_old_order(struct pd_recording *recording, const uint8_t *bytes)
{
    static const uint8_t sizes[] = { 80, 88, 96, 112, 120 };
    for (unsigned big = 0; big < 2; big++) {
        set_order(recording, big);
        uint64_t size = pd_load64(bytes + 16, recording->swap);
        for (size_t i = 0; i < PD_LENGTH(sizes); i++)
            if (size == sizes[i])
                return true;
    }
    return false;
}

static perfdata_status detect(struct pd_recording *recording, const uint8_t *bytes, size_t got)
{
    size_t common = PD_MIN(got, 8);
    if (memcmp(bytes, "PERFILE2", common) == 0 || memcmp(bytes, "2ELIFREP", common) == 0) {
        recording->version = 2;
        set_order(recording, bytes[0] == '2');
    } else if (memcmp(bytes, "PERFFILE", common) == 0) {
        recording->version = 1;
        set_order(recording, false);
    } else {
        return not_perf_data(recording);
    }
    if (got < HEADER_PIPE)
        return pd_fail(&recording->context, PERFDATA_ERROR_TRUNCATED, (int64_t)got,
                       "%s: the file ends within its header, after %zu bytes", recording->path,
                       got);
    bool pipe = pd_load64(bytes + 8, recording->swap) == HEADER_PIPE ||
                (recording->version == 1 && pd_load64(bytes + 8, !recording->swap) == HEADER_PIPE);
    if (pipe) {
        recording->kind = PD_CONTAINER_PIPE;
        if (recording->version == 1)
            set_order(recording, pd_load64(bytes + 8, false) != HEADER_PIPE ? !is_big_endian_host()
                                                                            : is_big_endian_host());
        return PERFDATA_OK;
    }
    if (pd_source_is_stream(recording->source))
        return pd_fail(
            &recording->context, PERFDATA_ERROR_NOT_PERF_DATA, 8,
            "%s: incompatible file format: a recording in file form does not come through a pipe",
            recording->path);
    if (got < HEADER_OLD)
        return pd_fail(&recording->context, PERFDATA_ERROR_TRUNCATED, (int64_t)got,
                       "%s: the file ends within its header, after %zu bytes", recording->path,
                       got);
    if (recording->version == 1 && !guess_old_order(recording, bytes))
        return pd_fail(&recording->context, PERFDATA_ERROR_BAD_HEADER, 16,
                       "%s: an entry size of version 1 that no perf wrote", recording->path);
    return PERFDATA_OK;
}

static struct pd_section load_section(const uint8_t *bytes, bool swap)
{
    return (struct pd_section){ pd_load64(bytes, swap), pd_load64(bytes + 8, swap) };
}

/* ---- the bitmap ---- */

static unsigned count_bits(const uint64_t bits[4])
{
    unsigned count = 0;
    for (unsigned i = 0; i < 4; i++)
        count += (unsigned)__builtin_popcountll(bits[i]);
    return count;
}

/* The table that this bitmap describes lies in the file, and so does all that it points to. */
static bool table_fits(struct pd_recording *recording, const uint64_t bits[4])
{
    uint64_t total = pd_source_size(recording->source), at;
    unsigned count = count_bits(bits);
    uint8_t table[256 * 16];
    size_t got;
    if (!count || pd_add_overflows(recording->data.offset, recording->data.size, &at) ||
        !pd_range_ok(at, 16u * count, total) ||
        pd_source_read(recording->source, at, table, 16u * count, &got) < 0 || got != 16u * count)
        return false;
    for (unsigned i = 0; i < count; i++) {
        struct pd_section section = load_section(table + 16 * i, recording->swap);
        if (!pd_range_ok(section.offset, section.size, total))
            return false;
    }
    return true;
}

/* 64-bit longs, or the 32-bit longs of a big-endian machine: the one whose table fits; HOSTNAME
 * decides a tie. */
static void choose_bitmap(struct pd_recording *recording, const uint8_t *bytes)
{
    uint64_t wide[4], narrow[4];
    for (unsigned i = 0; i < 4; i++) {
        wide[i] = pd_load64(bytes + 8 * i, recording->swap);
        narrow[i] = wide[i] << 32 | wide[i] >> 32;
    }
    const uint64_t *best = wide;
    if (recording->big_endian && memcmp(wide, narrow, sizeof wide) != 0) {
        bool wide_fits = table_fits(recording, wide), narrow_fits = table_fits(recording, narrow);
        uint64_t hostname = UINT64_C(1) << PD_FEATURE_HOSTNAME;
        if (wide_fits != narrow_fits)
            best = wide_fits ? wide : narrow;
        else if (!(wide[0] & hostname) && (narrow[0] & hostname))
            best = narrow;
    }
    memcpy(recording->feature_table.bits, best, sizeof wide);
}

/* ---- where the data is ---- */

static perfdata_status check_data(struct pd_recording *recording)
{
    struct pd_context *context = &recording->context;
    struct pd_section *data = &recording->data;
    uint64_t total = pd_source_size(recording->source), end;
    if (data->offset > total) {
        recording->truncated = true;
        *data = (struct pd_section){ total, 0 };
        return pd_issue(context, PERFDATA_ISSUE_TRUNCATED, (int64_t)total,
                        "the file ends before its data section");
    }
    if (data->size == 0) {
        recording->unfinished = true;
        data->size = total - data->offset;
        memset(recording->feature_table.bits, 0, sizeof recording->feature_table.bits);
        return pd_issue(
            context, PERFDATA_ISSUE_UNFINISHED, 40,
            "the recording was not finished (data size 0): reading up to the end of the file");
    }
    if (pd_add_overflows(data->offset, data->size, &end) || end > total) {
        uint64_t missing = data->size - (total - data->offset);
        recording->truncated = true;
        data->size = total - data->offset;
        return pd_issue(
            context, PERFDATA_ISSUE_TRUNCATED, (int64_t)total,
            "the file ends within its data section: %llu bytes are missing, and all features",
            (unsigned long long)missing);
    }
    return PERFDATA_OK;
}

perfdata_status pdc_read_header(struct pd_recording *recording)
{
    uint8_t bytes[HEADER_NEW] = { 0 };
    size_t got = 0;
    perfdata_status status = read_bytes(recording, bytes, &got);
    if (status == PERFDATA_OK)
        status = detect(recording, bytes, got);
    if (status < 0 || recording->kind == PD_CONTAINER_PIPE)
        return status;
    bool swap = recording->swap;
    recording->header_size = pd_load64(bytes + 8, swap);
    recording->attr_size = pd_load64(bytes + 16, swap);
    recording->attrs = load_section(bytes + 24, swap);
    recording->data = load_section(bytes + 40, swap);
    recording->event_types = load_section(bytes + 56, swap);
    recording->recorded_data = recording->data;
    if (recording->header_size != HEADER_OLD && recording->header_size != HEADER_NEW)
        return pd_fail(&recording->context, PERFDATA_ERROR_BAD_HEADER, 8,
                       "%s: a header of %llu bytes", recording->path,
                       (unsigned long long)recording->header_size);
    if (recording->header_size == HEADER_NEW && got < HEADER_NEW)
        return pd_fail(&recording->context, PERFDATA_ERROR_TRUNCATED, (int64_t)got,
                       "%s: the file ends within its header, after %zu bytes", recording->path,
                       got);
    if (recording->attr_size < MIN_ENTRY)
        return pd_fail(&recording->context, PERFDATA_ERROR_BAD_HEADER, 16,
                       "%s: attribute entries of %llu bytes", recording->path,
                       (unsigned long long)recording->attr_size);
    if (recording->header_size == HEADER_NEW)
        choose_bitmap(recording, bytes + HEADER_OLD);
    return check_data(recording);
}

perfdata_status pdc_read_section(struct pd_recording *recording, struct pd_section section,
                                 const uint8_t **bytes, size_t *size)
{
    uint64_t total = pd_source_size(recording->source);
    *bytes = (const uint8_t *)"";
    *size = 0;
    if (section.offset >= total || !section.size)
        return PERFDATA_OK;
    uint64_t want = PD_MIN(section.size, total - section.offset);
    const uint8_t *memory = pd_source_memory(recording->source);
    if (memory) {
        *bytes = memory + section.offset;
        *size = (size_t)want;
        return PERFDATA_OK;
    }
    uint8_t *room = pd_arena_alloc(&recording->arena, (size_t)want);
    if (!room)
        return pd_fail(&recording->context, PERFDATA_ERROR_MEMORY, (int64_t)section.offset,
                       "out of memory");
    *bytes = room;
    return pd_source_read(recording->source, section.offset, room, (size_t)want, size);
}
