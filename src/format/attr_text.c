/* SPDX-License-Identifier: MIT */
/* An attr -> the text that perf has for it. */
#include "format/attr_text.h"
#include "format/names.h"

/* Bits of sample_type in the order in which perf names them; it leaves TRANSACTION out. */
static const uint32_t sample_bits[] = {
    PD_SAMPLE_IP,
    PD_SAMPLE_TID,
    PD_SAMPLE_TIME,
    PD_SAMPLE_ADDR,
    PD_SAMPLE_READ,
    PD_SAMPLE_CALLCHAIN,
    PD_SAMPLE_ID,
    PD_SAMPLE_CPU,
    PD_SAMPLE_PERIOD,
    PD_SAMPLE_STREAM_ID,
    PD_SAMPLE_RAW,
    PD_SAMPLE_BRANCH_STACK,
    PD_SAMPLE_REGS_USER,
    PD_SAMPLE_STACK_USER,
    PD_SAMPLE_IDENTIFIER,
    PD_SAMPLE_REGS_INTR,
    PD_SAMPLE_DATA_SRC,
    PD_SAMPLE_WEIGHT,
    PD_SAMPLE_PHYS_ADDR,
    PD_SAMPLE_AUX,
    PD_SAMPLE_CGROUP,
    PD_SAMPLE_DATA_PAGE_SIZE,
    PD_SAMPLE_CODE_PAGE_SIZE,
    PD_SAMPLE_WEIGHT_STRUCT,
};

/* What perf 6.1 does not know, or prints under another name. */
static const struct special {
    const char *field, *shown;    /* NULL: not at all */
    const struct pd_names *names; /* shown as bits */
} specials[] = {
    { "sample_period", "{ sample_period, sample_freq }", NULL },
    { "wakeup_events", "{ wakeup_events, wakeup_watermark }", NULL },
    { "bp_addr", "{ bp_addr, config1 }", NULL },
    { "bp_len", "{ bp_len, config2 }", NULL },
    { "read_format", "read_format", &pd_names_read_format },
    { "branch_sample_type", "branch_sample_type", &pd_names_branch_sample },
    { "sample_type", "sample_type", &pd_names_sample_type },
    { "reserved_2", NULL, NULL },
    { "aux_action", NULL, NULL },
    { "config3", NULL, NULL },
    { "config4", NULL, NULL },
};

struct writer {
    const struct pd_attr *attr;
    struct pd_text *out;
    const char *next, *between, *is;
    bool old; /* no more than perf 6.1 prints */
};

static void begin_field(struct writer *writer, const char *name)
{
    pd_text_string(writer->out, writer->next);
    writer->next = writer->between;
    pd_text_string(writer->out, name);
    pd_text_string(writer->out, writer->is);
}

static void upper(struct pd_text *out, const char *name)
{
    for (; *name; name++)
        pd_text_char(out, *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name);
}

/* Unknown bits are left out. */
static void put_bits(struct pd_text *out, const struct pd_names *names, uint64_t value, bool old)
{
    bool some = false;
    if (names == &pd_names_sample_type) {
        for (size_t i = 0; i < PD_LENGTH(sample_bits); i++) {
            if (!(value & sample_bits[i]))
                continue;
            pd_text_string(out, some ? "|" : "");
            upper(out, pd_name_of(names, sample_bits[i]));
            some = true;
        }
        return;
    }
    for (const struct pd_name *item = names->items; item->text; item++) {
        if (!(value & item->value) ||
            (old && names == &pd_names_branch_sample && item->value > PD_BRANCH_SAMPLE_PRIV_SAVE))
            continue;
        pd_text_string(out, some ? "|" : "");
        upper(out, item->text);
        some = true;
    }
}

enum look { LOOK_u16, LOOK_u32, LOOK_u64, LOOK_s32, LOOK_x64, LOOK_action, LOOK_flags };

static void put_flags(struct writer *writer)
{
#define ATTR_FIELD(offset, kind, name, ...)
#define ATTR_FLAG(number, NAME, name)                                                              \
    if ((number) == PD_ATTR_PRECISE_IP && pd_attr_precise_ip(writer->attr)) {                      \
        begin_field(writer, #name);                                                                \
        pd_text_u64(writer->out, pd_attr_precise_ip(writer->attr), 0, ' ');                        \
    } else if ((number) != PD_ATTR_PRECISE_IP && (number) != PD_ATTR_PRECISE_IP_HIGH &&            \
               (!writer->old || (number) <= PD_ATTR_SIGTRAP) &&                                    \
               pd_attr_flag(writer->attr, number)) {                                               \
        begin_field(writer, #name);                                                                \
        pd_text_char(writer->out, '1');                                                            \
    }
#include "format/attr.def"
#undef ATTR_FIELD
#undef ATTR_FLAG
}

static void put_field(struct writer *writer, enum look look, const char *name, uint64_t value)
{
    const struct special *special = NULL;
    if (look == LOOK_flags) {
        put_flags(writer);
        return;
    }
    for (size_t i = 0; i < PD_LENGTH(specials); i++)
        if (!strcmp(specials[i].field, name))
            special = &specials[i];
    if (!value || (special && !special->shown && writer->old))
        return;
    begin_field(writer, special && special->shown ? special->shown : name);
    if (special && special->names)
        put_bits(writer->out, special->names, value, writer->old);
    else if (look == LOOK_x64)
        pd_text_hex_prefixed(writer->out, value);
    else if (look == LOOK_s32)
        pd_text_i64(writer->out, (int32_t)value, 0);
    else
        pd_text_u64(writer->out, value, 0, ' ');
}

void pd_attr_text(const struct pd_attr *attr, const char *first, const char *between,
                  const char *is, bool old, struct pd_text *out)
{
    struct writer writer = { attr, out, first, between, is, old };
#define ATTR_FIELD(offset, kind, name, ...)                                                        \
    put_field(&writer, LOOK_##kind, #name, (uint64_t)attr->name);
#define ATTR_FLAG(number, NAME, name)
#include "format/attr.def"
#undef ATTR_FIELD
#undef ATTR_FLAG
}

/* Bit masks and addresses may pass 2^53: hexadecimal strings. */
static void json_field(struct pd_text *out, bool *some, enum look look, const char *name,
                       uint64_t value)
{
    if (!value || look == LOOK_flags)
        return;
    pd_text_format(out, "%s\"%s\":", *some ? "," : "", name);
    *some = true;
    if (look == LOOK_x64)
        pd_text_format(out, "\"0x%llx\"", (unsigned long long)value);
    else if (look == LOOK_s32)
        pd_text_i64(out, (int32_t)value, 0);
    else if (look == LOOK_u64)
        pd_text_format(out, "\"%llu\"", (unsigned long long)value);
    else
        pd_text_u64(out, value, 0, ' ');
}

static void json_flags(const struct pd_attr *attr, struct pd_text *out, bool *some)
{
#define ATTR_FIELD(offset, kind, name, ...)
#define ATTR_FLAG(number, NAME, name)                                                              \
    if ((number) == PD_ATTR_PRECISE_IP && pd_attr_precise_ip(attr)) {                              \
        pd_text_format(out, "%s\"%s\":%u", *some ? "," : "", #name, pd_attr_precise_ip(attr));     \
        *some = true;                                                                              \
    } else if ((number) != PD_ATTR_PRECISE_IP && (number) != PD_ATTR_PRECISE_IP_HIGH &&            \
               pd_attr_flag(attr, number)) {                                                       \
        pd_text_format(out, "%s\"%s\":true", *some ? "," : "", #name);                             \
        *some = true;                                                                              \
    }
#include "format/attr.def"
#undef ATTR_FIELD
#undef ATTR_FLAG
}

void pd_attr_json(const struct pd_attr *attr, struct pd_text *out)
{
    bool some = false;
    pd_text_char(out, '{');
#define ATTR_FIELD(offset, kind, name, ...)                                                        \
    json_field(out, &some, LOOK_##kind, #name, (uint64_t)attr->name);
#define ATTR_FLAG(number, NAME, name)
#include "format/attr.def"
#undef ATTR_FIELD
#undef ATTR_FLAG
    json_flags(attr, out, &some);
    pd_text_char(out, '}');
}
