/* SPDX-License-Identifier: MIT */
/* A record being made, in this machine's byte order. */
#ifndef PD_RECORD_RECORDS_H
#define PD_RECORD_RECORDS_H
#include "record/record.h"

struct pd_made {
    size_t size;
    uint8_t bytes[UINT16_MAX + 1];
};

/* What has no room is left out. */
PD_INLINE void pd_made_bytes(struct pd_made *made, const void *bytes, size_t size)
{
    if (size > sizeof made->bytes - made->size)
        return;
    memcpy(made->bytes + made->size, bytes, size);
    made->size += size;
}

PD_INLINE void pd_made_u16(struct pd_made *made, uint16_t value)
{
    pd_made_bytes(made, &value, sizeof value);
}

PD_INLINE void pd_made_u32(struct pd_made *made, uint32_t value)
{
    pd_made_bytes(made, &value, sizeof value);
}

PD_INLINE void pd_made_u64(struct pd_made *made, uint64_t value)
{
    pd_made_bytes(made, &value, sizeof value);
}

/* In the place of device and inode of a MMAP2 record. */
PD_INLINE void pd_made_build_id(struct pd_made *made, const struct pd_build_id *id)
{
    uint8_t bytes[24] = { id->size };
    memcpy(bytes + 4, id->bytes, id->size);
    pd_made_bytes(made, bytes, sizeof bytes);
}

/* With its NUL, filled up with zeros to a multiple of `unit`. */
void pd_made_text(struct pd_made *made, const char *text, size_t unit);
void pd_made_begin(struct pd_made *made, uint32_t type, uint16_t misc);
/* Aligns it to 8, adds `trailer` zeros. False: it is too large for a record. */
bool pd_made_end(struct pd_made *made, size_t trailer);
/* The same, and writes it; what is too large is left out. */
perfdata_status pd_made_put(perfdata_recorder *recorder, struct pd_made *made, size_t trailer);
/* A record that is nothing but its header. */
perfdata_status pd_record_put_simple(perfdata_recorder *recorder, uint32_t type);

/* The file of a module as the modules.dep of a kernel (NULL: this one) names it, to be freed; NULL:
 * unknown. */
char *pd_module_path(const struct pd_roots *roots, const char *release, const char *name);

#endif
