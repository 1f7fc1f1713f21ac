/* SPDX-License-Identifier: MIT */
/* Every field of any record, in order, once: what text, JSON, checksums and encoders are made from.
 *
 * A walk tells a sink about header, body, trailing bytes and trailer. Together the fields cover
 * every byte, so a sink that writes them back in file order has the record again, in either byte
 * order. Bytes that the tables do not explain come as a field "unread". */
#ifndef PD_FIELDS_H
#define PD_FIELDS_H
#include "format/names.h"
#include "format/rows.h"

struct pd_field {
    const char *name;
    const struct pd_row *row;     /* NULL: not from records.def or features.def */
    const struct pd_names *names; /* of the value, or NULL */
    uint8_t kind;                 /* enum pd_kind */
    bool swap;                    /* of arrays' elements */
    /* numbers: sign-extended where signed; f64: its bits; list: the number of items, if known */
    uint64_t value;
    const uint8_t *data; /* text, bytes, array: where they are in the record */
    size_t size;         /* bytes there; padding of text counts */
    uint32_t length;     /* text: bytes before the NUL; array: elements */
    uint64_t mask;       /* registers; `value` is their abi then */
};

/* Lists: open(list) { open(item: name NULL) fields close } close. Windows, attrs, read values, the
 * trailer: open { } close. */
struct pd_sink {
    void (*field)(struct pd_sink *sink, const struct pd_field *field);
    void (*open)(struct pd_sink *sink, const struct pd_field *field);
    void (*close)(struct pd_sink *sink);
    /* attr, read, sample and feature come as one field of bytes instead of their fields */
    bool whole;
    bool headless; /* leave out the header's fields */
};

struct pd_fields_input {
    const struct pd_event *event; /* NULL: no trailer, a sample's body is unread */
    const uint8_t *record;
    uint32_t size;
    bool swap;
    uint32_t cpus; /* that feature NRCPUS names, for HEADER_FEATURE records; 0: unknown */
};

/* PERFDATA_ERROR_BAD_RECORD when the record says more than it holds (its fields came all the same).
 * The record must hold at least its 8-byte header; the size in that may differ from `size`. */
perfdata_status pd_fields_walk(const struct pd_fields_input *input, struct pd_sink *sink);

/* The same for rows over bytes that are no record: a feature's payload, a build-id entry. */
perfdata_status pd_rows_walk(const struct pd_row *rows, const uint8_t *bytes, size_t size,
                             bool swap, uint32_t cpus, struct pd_sink *sink);

/* A perf_event_attr; the row without a name ends it. */
extern const struct pd_row pd_attr_rows[];

/* Writes the record's fields in that byte order into out[size]. PERFDATA_ERROR_BAD_RECORD: parts
 * that could not be read have been copied. */
perfdata_status pd_record_encode(const struct pd_fields_input *input, bool big_endian,
                                 uint8_t *out);

/* The same, but `edit` is shown each field first and may change numbers (array elements: in a copy
 * of the same size that it makes `data` point to). */
typedef void (*pd_edit_fn)(void *data, struct pd_field *field);
perfdata_status pd_record_edit(const struct pd_fields_input *input, bool big_endian, uint8_t *out,
                               pd_edit_fn edit, void *data);

/* One number over every field of a record, the same in either byte order. */
uint64_t pd_record_checksum(const struct pd_fields_input *input);
/* The same number by the general walk, for any record: slower. */
uint64_t pd_record_checksum_walk(const struct pd_fields_input *input);
/* Adds a record's number to the sum of all before it. */
PD_INLINE uint64_t pd_checksum_add(uint64_t sum, uint64_t record)
{
    return (sum << 7 | sum >> 57) * UINT64_C(0x9e3779b97f4a7c15) + record;
}

#endif
