/* SPDX-License-Identifier: MIT */
/* Records by hand, in our own byte order and without trailer. */
#ifndef PD_BUILD_RECORD_H
#define PD_BUILD_RECORD_H
#include "base/base.h"
#include "format/format.h"

struct built {
    uint8_t bytes[512];
    uint32_t size;
};

static inline void built_u16(struct built *to, uint16_t value)
{
    pd_store16(to->bytes + to->size, value, false);
    to->size += 2;
}

static inline void built_u32(struct built *to, uint32_t value)
{
    pd_store32(to->bytes + to->size, value, false);
    to->size += 4;
}

static inline void built_u64(struct built *to, uint64_t value)
{
    pd_store64(to->bytes + to->size, value, false);
    to->size += 8;
}

static inline struct built built_begin(uint32_t type, uint16_t misc)
{
    struct built record = { .size = 8 };
    pd_store32(record.bytes, type, false);
    pd_store16(record.bytes + 4, misc, false);
    return record;
}

static inline void built_text(struct built *to, const char *text)
{
    size_t length = strlen(text) + 1;
    memcpy(to->bytes + to->size, text, length);
    to->size += (uint32_t)pd_align8(length);
}

static inline struct built built_end(struct built record)
{
    pd_store16(record.bytes + 6, (uint16_t)record.size, false);
    return record;
}

static inline struct built build_comm(uint16_t misc, uint32_t pid, uint32_t tid, const char *name)
{
    struct built record = built_begin(PD_RECORD_COMM, misc);
    built_u32(&record, pid);
    built_u32(&record, tid);
    built_text(&record, name);
    return built_end(record);
}

/* FORK and EXIT */
static inline struct built build_task(uint32_t type, uint16_t misc, uint32_t pid, uint32_t ppid,
                                      uint32_t tid, uint32_t ptid)
{
    struct built record = built_begin(type, misc);
    built_u32(&record, pid);
    built_u32(&record, ppid);
    built_u32(&record, tid);
    built_u32(&record, ptid);
    built_u64(&record, 0);
    return built_end(record);
}

static inline struct built build_mmap(uint16_t misc, uint32_t pid, uint32_t tid, uint64_t start,
                                      uint64_t length, uint64_t pgoff, const char *name)
{
    struct built record = built_begin(PD_RECORD_MMAP, misc);
    built_u32(&record, pid);
    built_u32(&record, tid);
    built_u64(&record, start);
    built_u64(&record, length);
    built_u64(&record, pgoff);
    built_text(&record, name);
    return built_end(record);
}

struct built_file {
    uint32_t maj, min;
    uint64_t ino, ino_generation;
    uint32_t prot, flags;
};

static inline struct built build_mmap2(uint16_t misc, uint32_t pid, uint32_t tid, uint64_t start,
                                       uint64_t length, uint64_t pgoff, struct built_file file,
                                       const char *name)
{
    struct built record = built_begin(PD_RECORD_MMAP2, misc);
    built_u32(&record, pid);
    built_u32(&record, tid);
    built_u64(&record, start);
    built_u64(&record, length);
    built_u64(&record, pgoff);
    built_u32(&record, file.maj);
    built_u32(&record, file.min);
    built_u64(&record, file.ino);
    built_u64(&record, file.ino_generation);
    built_u32(&record, file.prot);
    built_u32(&record, file.flags);
    built_text(&record, name);
    return built_end(record);
}

static inline struct built build_ksymbol(uint64_t start, uint32_t length, uint16_t type,
                                         uint16_t flags, const char *name)
{
    struct built record = built_begin(PD_RECORD_KSYMBOL, 0);
    built_u64(&record, start);
    built_u32(&record, length);
    built_u16(&record, type);
    built_u16(&record, flags);
    built_text(&record, name);
    return built_end(record);
}

static inline struct built build_cgroup(uint64_t id, const char *path)
{
    struct built record = built_begin(PD_RECORD_CGROUP, 0);
    built_u64(&record, id);
    built_text(&record, path);
    return built_end(record);
}
#endif
