/* SPDX-License-Identifier: MIT */
/* Prints include/perfdata/types.h from the tables: `meson compile update-types`; a test compares.
 * Not in the library. */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct item {
    const char *prefix, *name; /* prefix PD_X, or NULL: the end of an enum, whose name it is */
    int64_t number;
    const char *text;
};

/* A group ends with an item without prefix. */
static const struct item groups[] = {
#define VALUES(group)
#define BITS(group)
#define ITEM(PREFIX, NAME, number, text) { #PREFIX, #NAME, number, text },
#define GROUP_END(group) { NULL, #group, 0, NULL },
#include "format/bits.def"
#undef VALUES
#undef BITS
#undef ITEM
#undef GROUP_END
};

static const struct item records[] = {
#define RECORD(number, NAME, name) { "PD_RECORD", #NAME, number, NULL },
#include "format/nothing.h"
#include "format/records.def"
#define PD_FORGET
#include "format/nothing.h"
    { NULL, "record_type", 0, NULL },
};

static const struct item features[] = {
#define FEATURE(number, NAME, name) { "PD_FEATURE", #NAME, number, NULL },
#include "format/nothing.h"
#include "format/features.def"
#define PD_FORGET
#include "format/nothing.h"
    { NULL, "feature", 0, NULL },
};

static const struct item samples[] = {
#define SAMPLE_WORD(NAME, bit, name, kind) { "PD_SAMPLE_TYPE", #NAME, INT64_C(1) << (bit), NULL },
#define SAMPLE_PAIR(NAME, bit, low, low_kind, high, high_kind) SAMPLE_WORD(NAME, bit, low, u64)
#define SAMPLE_PART(NAME, bit, function) SAMPLE_WORD(NAME, bit, function, u64)
#define SAMPLE_TAIL(NAME, bit, name, kind) SAMPLE_WORD(NAME, bit, name, kind)
#define SAMPLE_ALIAS(NAME, bit, OTHER) SAMPLE_WORD(NAME, bit, OTHER, u64)
#include "format/sample.def"
    { NULL, "sample_type", 0, NULL },
};

/* Numbers of a sample, in the order in which they lie in it. */
static const char *const numbers[] = {
#define SAMPLE_WORD(NAME, bit, name, kind) #name,
#define SAMPLE_PAIR(NAME, bit, low, low_kind, high, high_kind) #low, #high,
#define SAMPLE_TAIL(NAME, bit, name, kind) #name,
#include "format/sample.def"
};

static const struct item flags[] = {
#define ATTR_FIELD(offset, kind, name, ...)
#define ATTR_FLAG(number, NAME, name) { "PD_ATTR", #NAME, number, NULL },
#include "format/attr.def"
#undef ATTR_FIELD
#undef ATTR_FLAG
    { NULL, "attr_flag", 0, NULL },
};

static const struct item misc[] = {
    { "PD_MISC", "CPUMODE_MASK", 7, NULL },
#define MISC(NAME, mask, text, ...) { "PD_MISC", #NAME, mask, text },
#include "format/misc.def"
#undef MISC
    { NULL, "misc", 0, NULL },
};

enum { /* PT packets are numbered as they stand */
#define PT(kind, text, keeps) PACKET_##kind,
#include "itrace/intel_pt/packets.def"
#undef PT
#undef PT_EXT
};

static const struct item packets[] = {
#define PT(kind, text, keeps) { "PD_PACKET", #kind, PACKET_##kind, NULL },
#include "itrace/intel_pt/packets.def"
#undef PT
#undef PT_EXT
    { NULL, "packet_kind", 0, NULL },
};

static int fits(const struct item *item)
{
    return item->number >= 0 && item->number <= INT_MAX;
}

static void print_enumerators(const struct item *first, const struct item *end, const char *comment)
{
    const char *between = "";
    int hexadecimal = !strcmp(end->name, "sample_type") || !strcmp(end->name, "misc");
    printf("\n/* %s Since 0.1. */\nenum perfdata_%s {\n", comment, end->name);
    for (const struct item *item = first; item < end; item++) {
        if (!fits(item))
            continue;
        printf("%s    PERFDATA%s_%s = ", between, item->prefix + 2, item->name);
        printf(hexadecimal ? "0x%" PRIx64 : "%" PRId64, item->number);
        between = ",\n";
    }
    printf("\n};\n");
}

/* Numbers that an int cannot hold are macros. */
static void print_enum(const struct item *first, const struct item *end, const char *comment)
{
    int some = 0;
    for (const struct item *item = first; item < end; item++)
        some |= fits(item);
    if (some)
        print_enumerators(first, end, comment);
    else
        printf("\n/* %s Since 0.1. */\n", comment);
    for (const struct item *item = first; item < end; item++)
        if (!fits(item))
            printf("#define PERFDATA%s_%s UINT64_C(0x%" PRIx64 ")\n", item->prefix + 2, item->name,
                   (uint64_t)item->number);
}

static void print_groups(void)
{
    const struct item *first = groups;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (groups[i].prefix)
            continue;
        print_enum(first, &groups[i], "As in the recording.");
        first = &groups[i] + 1;
    }
}

/* The id that may stand in front of all others is ID's, and nobody asks for what is reserved. */
static void print_numbers(void)
{
    int count = 0;
    printf("\n/* Numbers of a sample. Since 0.1. */\nenum perfdata_sample_field {\n");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!strcmp(numbers[i], "identifier") || !strcmp(numbers[i], "reserved"))
            continue;
        printf("%s    PERFDATA_SAMPLE_", count ? ",\n" : "");
        for (const char *c = numbers[i]; *c; c++)
            putchar(toupper((unsigned char)*c));
        printf(" = %d", count++);
    }
    printf("\n};\n\n/* How many these are. Since 0.1. */\nenum { PERFDATA_SAMPLE_FIELDS = %d };\n",
           count);
}

#define PRINT(items, comment) print_enum(items, items + sizeof items / sizeof *items - 1, comment)

int main(void)
{
    printf("/* SPDX-License-Identifier: MIT */\n"
           "/* clang-format off */\n"
           "/* Numbers of the perf.data format, generated from the library's tables: do not edit. "
           "Later\n"
           " * versions add to these lists; they never change a number. */\n"
           "#ifndef PERFDATA_TYPES_H\n#define PERFDATA_TYPES_H\n#include <stdint.h>\n");
    PRINT(records, "Types of records; the kernel's are below 64.");
    PRINT(misc,
          "Bits of a record's misc; the same bit means different things in different records.");
    PRINT(features, "Header features.");
    PRINT(samples, "Bits of sample_type.");
    print_numbers();
    PRINT(packets, "Kinds of Intel PT packets; these numbers are ours.");
    PRINT(flags, "Flags of an attr: bit numbers, as in a little-endian file.");
    print_groups();
    printf("\n#endif\n");
    return 0;
}
