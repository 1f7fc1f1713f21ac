/* SPDX-License-Identifier: MIT */
/* What a sample's data_src says about an access to memory, as text. */
#include "render/data_source.h"
#include "format/enums.h"
#include "format/names.h"

struct word {
    uint8_t bit;
    const char *text;
};

/* Puts the names of the bits with " or " between them, "N/A" for none. Returns how many there
 * were. */
static unsigned put_words(const struct word *words, size_t count, uint64_t bits,
                          struct pd_text *text)
{
    unsigned put = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(bits >> words[i].bit & 1))
            continue;
        if (put++)
            pd_text_string(text, " or ");
        pd_text_string(text, words[i].text);
    }
    return put;
}

static void put_hit(uint64_t bits, struct pd_text *text)
{
    if (bits & 2)
        pd_text_string(text, " hit");
    if (bits & 4)
        pd_text_string(text, " miss");
}

static void put_operation(uint64_t source, bool as_perf, struct pd_text *text)
{
    (void)as_perf;
    static const struct word words[] = {
        { 0, "N/A" }, { 1, "LOAD" }, { 2, "STORE" }, { 3, "PFETCH" }, { 4, "EXEC" }
    };
    for (size_t i = 0; i < PD_LENGTH(words); i++) {
        if (source >> words[i].bit & 1) {
            pd_text_string(text, words[i].text);
            return;
        }
    }
    pd_text_string(text, "No");
}

/* perf 6.1 shows a level whose number it does not know as a cache further away. */
static void put_level_number(uint64_t number, bool as_perf, struct pd_text *text)
{
    enum { FIRST_OTHER = 5, FIRST_KNOWN = 9 };
    if (number < FIRST_OTHER || (as_perf && number < FIRST_KNOWN))
        pd_text_format(text, "L%llu", (unsigned long long)number);
    else
        pd_text_string(text, pd_name_of(&pd_names_mem_lvl_num, number));
}

static void put_level(uint64_t source, bool as_perf, struct pd_text *text)
{
    static const struct word words[] = { { 0, "N/A" },
                                         { 3, "L1" },
                                         { 4, "LFB/MAB" },
                                         { 5, "L2" },
                                         { 6, "L3" },
                                         { 7, "Local RAM" },
                                         { 8, "Remote RAM (1 hop)" },
                                         { 9, "Remote RAM (2 hops)" },
                                         { 10, "Remote Cache (1 hop)" },
                                         { 11, "Remote Cache (2 hops)" },
                                         { 12, "I/O" },
                                         { 13, "Uncached" } };
    static const char *const hops[8] = { [1] = "core, same node",
                                         [2] = "node, same socket",
                                         [3] = "socket, same board",
                                         [4] = "board" };
    uint64_t level = PD_DATA_SRC_PART(source, LVL), number = PD_DATA_SRC_PART(source, LVL_NUM),
             hop = PD_DATA_SRC_PART(source, HOPS);
    size_t start = text->length;
    if (PD_DATA_SRC_PART(source, REMOTE))
        pd_text_string(text, "Remote ");
    bool printed = false;
    if (hop) {
        pd_text_string(text, hops[hop] ? hops[hop] : "");
        pd_text_char(text, ' ');
    } else {
        printed = put_words(words, PD_LENGTH(words), level, text);
    }
    if (number) {
        if (printed)
            pd_text_string(text, " or ");
        put_level_number(number, as_perf, text);
    }
    if (text->length == start)
        pd_text_string(text, "N/A");
    put_hit(level, text);
}

static void put_snoop(uint64_t source, bool as_perf, struct pd_text *text)
{
    (void)as_perf;
    static const struct word words[] = { { 0, "N/A" },  { 1, "None" }, { 2, "Hit" }, { 3, "Miss" },
                                         { 4, "HitM" }, { 5, "Fwd" },  { 6, "Peer" } };
    uint64_t bits = PD_DATA_SRC_PART(source, SNOOP) | PD_DATA_SRC_PART(source, SNOOPX)
                                                          << PD_DATA_SRC_WIDTH_SNOOP;
    if (!put_words(words, PD_LENGTH(words), bits, text))
        pd_text_string(text, "N/A");
}

static void put_tlb(uint64_t source, bool as_perf, struct pd_text *text)
{
    (void)as_perf;
    static const struct word words[] = {
        { 0, "N/A" }, { 3, "L1" }, { 4, "L2" }, { 5, "Walker" }, { 6, "Fault" }
    };
    uint64_t bits = PD_DATA_SRC_PART(source, DTLB);
    if (!put_words(words, PD_LENGTH(words), bits, text))
        pd_text_string(text, "N/A");
    put_hit(bits, text);
}

static void put_lock(uint64_t source, bool as_perf, struct pd_text *text)
{
    (void)as_perf;
    uint64_t lock = PD_DATA_SRC_PART(source, LOCK);
    pd_text_string(text, lock & 1 ? "N/A" : lock & 2 ? "Yes" : "No");
}

static void put_blocked(uint64_t source, bool as_perf, struct pd_text *text)
{
    (void)as_perf;
    uint64_t bits = PD_DATA_SRC_PART(source, BLK);
    if (!bits || bits & 1) {
        pd_text_string(text, " N/A");
        return;
    }
    if (bits & 2)
        pd_text_string(text, " Data");
    if (bits & 4)
        pd_text_string(text, " Addr");
}

static void put_region(uint64_t region, struct pd_text *text)
{
    const char *name = pd_name_of(&pd_names_mem_region, region);
    pd_text_string(text, "|RGN ");
    if (name)
        pd_text_string(text, name);
    else
        pd_text_hex_prefixed(text, region);
}

static const struct {
    const char *head;
    void (*put)(uint64_t source, bool as_perf, struct pd_text *text);
} parts[] = {
    { "|OP ", put_operation },
    [PD_DATA_SOURCE_LEVEL] = { "|LVL ", put_level },
    [PD_DATA_SOURCE_SNOOP] = { "|SNP ", put_snoop },
    [PD_DATA_SOURCE_TLB] = { "|TLB ", put_tlb },
    [PD_DATA_SOURCE_LOCK] = { "|LCK ", put_lock },
    [PD_DATA_SOURCE_BLOCK] = { "|BLK ", put_blocked },
};

void pd_data_source_part_text(uint64_t source, enum pd_data_source_part part, bool as_perf,
                              struct pd_text *text)
{
    parts[part].put(source, as_perf, text);
}

void pd_data_source_text(uint64_t source, bool as_perf, struct pd_text *text)
{
    for (size_t i = 0; i < PD_LENGTH(parts); i++) {
        pd_text_string(text, parts[i].head);
        parts[i].put(source, as_perf, text);
    }
    uint64_t region = PD_DATA_SRC_PART(source, REGION);
    if (region && !as_perf) /* Linux 6.20; perf 6.1 has no word for it */
        put_region(region, text);
}
