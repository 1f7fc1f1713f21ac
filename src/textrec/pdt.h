/* SPDX-License-Identifier: MIT */
/* Text recordings: what their reader and their writer share. An item of text becomes nodes, and
 * those become bytes by the tables of format/, so that a record type or a feature that comes into
 * the tables needs nothing here. The writer assembles each item that it prints, and prints it
 * another way where that does not give the recording's bytes. */
#ifndef PD_PDT_H
#define PD_PDT_H
#include "base/vec.h"
#include "container/container.h"
#include "format/fields.h"

#define PDT_NONE UINT32_MAX
#define PDT_DEEPEST 16
#define PDT_ATTR_SIZE 128 /* perf's */
/* What has more is written as bytes. */
#define PDT_EVENTS_MAX 4096
#define PDT_ATTR_SIZE_MAX 4096
#define PDT_ITEM_MAX (256u << 20) /* of what an item makes of padding */

/* ---- an item's text (parse.c) ---- */

enum pdt_kind { PDT_NUMBER, PDT_WORD, PDT_TEXT, PDT_BYTES, PDT_GROUP, PDT_LIST };
enum pdt_form { PDT_DECIMAL, PDT_HEX, PDT_REAL /* number: the bits of a double */ };

struct pdt_node {
    const char *name; /* in the text; NULL: a value without name */
    uint32_t name_length;
    uint8_t kind, form;
    bool forced; /* "!" */
    bool used;
    uint64_t number;
    size_t data, size; /* WORD: in the text; TEXT, BYTES: in the item's bytes */
    size_t padded;     /* TEXT: bytes with padding, SIZE_MAX: as usual */
    size_t at;         /* in the text */
    uint32_t end;      /* of its subtree: the next node that is not in it */
};

struct pdt_item {
    PD_VEC(struct pdt_node) nodes; /* [0]: the item itself, a group */
    struct pd_text bytes;
    const char *text;
    size_t length, error_at;
    char error[256];
};

bool pdt_parse(struct pdt_item *item, const char *text, size_t length);
void pdt_item_free(struct pdt_item *item);
/* Always false: notes what is wrong, and where in the text. */
bool pdt_error(struct pdt_item *item, size_t at, const char *format, ...) PD_PRINTF(3, 4);
/* The child of that name, marked as used; PDT_NONE: there is none. */
uint32_t pdt_find(struct pdt_item *item, uint32_t group, const char *name);
bool pdt_is(const struct pdt_item *item, uint32_t node, const char *word);

/* Finds how far an item goes; its text comes piece by piece. */
struct pdt_scan {
    unsigned depth;
    bool text, escape, comment, content;
};
/* The bytes of `text` that belong to the item, or SIZE_MAX when it does not end there. */
size_t pdt_scan(struct pdt_scan *scan, const char *text, size_t length);

/* ---- events (rows.c) ---- */

struct pdt_event {
    char *name;
    struct pd_event event; /* without name */
    PD_VEC(uint64_t) ids;
    PD_VEC(uint8_t) attr; /* as in the recording */
    struct pd_section ids_section, ids_forced;
    bool force_offset, force_size;
    struct pd_row sample[48], read[8], trailer[10];
};

/* Fills the rows from event.attr. */
void pdt_event_rows(struct pdt_event *event, bool swap);
/* Also one that the tables leave to code: a sample's, a trailer's, the values of a read. */
const struct pd_row *pdt_row_by_name(const struct pd_row *rows, const char *name, size_t length);
/* Whether the field is there whenever its condition holds, so that it has its default where the
 * text leaves it out. */
bool pdt_row_required(const struct pd_row *row);
/* A row of the same list whose number of items this one says; NULL: none. */
const struct pd_row *pdt_row_counted(const struct pd_row *row);
/* Whether the field's default is the event's id. */
bool pdt_row_is_id(const struct pd_row *row);

/* ---- nodes to bytes (encode.c) ---- */

struct pdt_coder {
    struct pdt_item *item;
    struct pd_text *out;
    size_t start; /* of the record or feature in out */
    const struct pdt_event *event;
    uint64_t registers[8];
    uint16_t misc;
    bool swap;
    bool exact; /* nothing follows that is not written */
};

/* Appends the fields of `group` by rows; PDT_NONE: all defaults. False after pdt_error(). */
bool pdt_encode_rows(struct pdt_coder *coder, const struct pd_row *rows, uint32_t group);
/* An attr's bytes: as many as its size says, or `size` if that is not 0. */
bool pdt_encode_attr(struct pdt_coder *coder, uint32_t node, size_t size);
/* The whole body of a record behind its header. */
bool pdt_encode_body(struct pdt_coder *coder, uint32_t type, uint32_t group);

/* ---- items to a recording (items.c) ---- */

struct pdt_layout {
    enum { PDT_RAW, PDT_FILE, PDT_PIPE, PDT_PART } kind;
    unsigned version;
    bool swap, big_endian, narrow; /* narrow: a bitmap of 32-bit longs */
    uint64_t header_size, attr_size;
    struct pd_section attrs, data, types;
    uint64_t table;
    uint64_t feature_bits[4];
    struct pd_section features[256];
};
/* The header that follows; its size is in layout.header_size. */
void pdt_layout_header(const struct pdt_layout *layout, uint8_t header[104]);

enum { PDT_HEADER_FIELDS = 6 };
/* "attrs_offset" ... and where in the header they are. */
extern const struct pdt_header_field {
    const char *name;
    unsigned offset;
} pdt_header_fields[PDT_HEADER_FIELDS];

struct pdt {
    struct pdt_item item;
    struct pd_text out; /* what the last item gives */
    uint64_t position;  /* of it in the recording */
    struct pdt_layout layout;
    PD_VEC(struct pdt_event *) events;
    size_t table_events; /* how many the attrs section has */
    bool greeted, begun, in_data, had_data;
    bool has_feature[256], force_feature[256];
    bool force_header[PDT_HEADER_FIELDS], force_bitmap;
    uint64_t header_value[PDT_HEADER_FIELDS];
    uint8_t bitmap[32];
};

/* Reads one item (or an empty one) and sets out. False: item.error says why. The caller moves
 * `position` on. */
bool pdt_take(struct pdt *pdt, const char *text, size_t length);
/* At the end: calls put() with what depends on positions. */
bool pdt_finish(struct pdt *pdt,
                bool (*put)(void *data, uint64_t offset, const void *bytes, size_t size),
                void *data);
void pdt_free(struct pdt *pdt);

/* ---- bytes to text (print.c) ---- */

struct pdt_printer {
    struct pd_sink sink;
    struct pd_text *text;
    const struct pdt_event *event;
    const uint8_t *start; /* of the record or feature */
    bool exact, in_sample, left_out;
    unsigned depth, opened; /* levels that are open, and those of them that have been written */
    struct pd_field fields[PDT_DEEPEST];
};

void pdt_print_begin(struct pdt_printer *printer, struct pd_text *text, const uint8_t *start);
void pdt_print_end(struct pdt_printer *printer);
void pdt_print_bytes(struct pd_text *text, const uint8_t *bytes, size_t size);

#endif
