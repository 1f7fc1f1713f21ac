/* SPDX-License-Identifier: MIT */
/* The words of AUXTRACE_INFO -> their names. */
#include "format/auxtrace.h"

#define AUX_WORDS(TYPE) static const char *const words_##TYPE[] = {
#define AUX_WORD(name) #name,
#define AUX_WORDS_END(TYPE)                                                                        \
    }                                                                                              \
    ;
#include "format/auxtrace.def"
#undef AUX_WORDS
#undef AUX_WORD
#undef AUX_WORDS_END

static const struct {
    uint32_t type;
    const char *const *names;
    uint32_t count;
} types[] = {
#define AUX_WORDS(TYPE) { PD_AUXTRACE_##TYPE, words_##TYPE, PD_LENGTH(words_##TYPE) },
#define AUX_WORD(name)
#define AUX_WORDS_END(TYPE)
#include "format/auxtrace.def"
};

#define MAGIC_ETM3 UINT64_C(0x3030303030303030)
#define MAGIC_ETM4 UINT64_C(0x4040404040404040)
#define MAGIC_ETE UINT64_C(0x5050505050505050)
#define MAGIC_SPE UINT64_C(0x1010101010101010)

static const char *const etm3[] = { "etmcr", "etmtraceidr", "etmccer", "etmidr", NULL };
static const char *const etm4[] = { "trcconfigr",    "trctraceidr", "trcidr0",
                                    "trcidr1",       "trcidr2",     "trcidr8",
                                    "trcauthstatus", "ts_source",   NULL };
static const char *const ete[] = { "trcconfigr", "trctraceidr", "trcidr0",       "trcidr1",
                                   "trcidr2",    "trcidr8",     "trcauthstatus", "trcdevarch",
                                   "ts_source",  NULL };
static const char *const spe[] = { "midr", "pmu_type", "min_interval", "event_filter", NULL };
static const char *const spe_head[] = { "version", "header_words", "pmu_type", "cpus" };

static const char *const *parameters_of(uint64_t magic)
{
    return magic == MAGIC_ETM3   ? etm3
           : magic == MAGIC_ETM4 ? etm4
           : magic == MAGIC_ETE  ? ete
           : magic == MAGIC_SPE  ? spe
                                 : NULL;
}

/* The words before those of CPUs; UINT32_MAX: none are of CPUs. */
static uint32_t head_words(uint32_t type, const struct pd_array *words)
{
    enum { CORESIGHT = 3, SPE_FIRST = 2 };
    if (type == PD_AUXTRACE_CS_ETM)
        return CORESIGHT;
    bool is_second = type == PD_AUXTRACE_ARM_SPE && words->count > SPE_FIRST;
    return is_second ? (uint32_t)PD_MIN(pd_array_at(words, 1), (uint64_t)words->count) : UINT32_MAX;
}

/* A CPU's words: magic, cpu, the number of parameters, parameters. Version 0 of CoreSight has no
 * number. */
static void begin_cpu(struct pd_auxtrace_words *walk, uint32_t type, const struct pd_array *words,
                      uint32_t index)
{
    enum { WITHOUT = 2, WITH = 3, ETM3 = 4, ETM4 = 7 };
    bool counts = type != PD_AUXTRACE_CS_ETM || pd_array_at(words, 0) > 0;
    uint32_t left = words->count - index;
    walk->magic = pd_array_at(words, index);
    walk->cpu = left > 1 ? pd_array_at(words, index + 1) : 0;
    uint64_t count = counts ? WITH + (left > 2 ? pd_array_at(words, index + 2) : 0)
                            : WITHOUT + (walk->magic == MAGIC_ETM3 ? ETM3 : ETM4);
    walk->begin = index;
    walk->end = count < left ? index + (uint32_t)count : words->count;
}

static void put_cpu_word(const struct pd_auxtrace_words *walk, bool counts, uint32_t at,
                         struct pd_text *text)
{
    const char *const *names = parameters_of(walk->magic);
    uint32_t head = counts ? 3 : 2;
    pd_text_format(text, "cpu%llu.", (unsigned long long)walk->cpu);
    if (at < head) {
        pd_text_string(text, at == 0 ? "magic" : at == 1 ? "cpu" : "parameters");
        return;
    }
    at -= head;
    for (uint32_t i = 0; names && i <= at; i++)
        if (!names[i])
            names = NULL;
    if (names)
        pd_text_string(text, names[at]);
    else
        pd_text_format(text, "parameter%u", at);
}

static void put_filter_word(const struct pd_array *words, uint32_t index, struct pd_text *text)
{
    enum { LENGTH_AT = 16 };
    uint64_t length = pd_array_at(words, LENGTH_AT), filter = length ? length / 8 + 1 : 0;
    if (index - LENGTH_AT <= filter)
        pd_text_string(text, "filter");
    else if (index - LENGTH_AT == filter + 1)
        pd_text_string(text, "cap_event_trace");
    else
        pd_text_format(text, "word%u", index);
}

void pd_auxtrace_word(struct pd_auxtrace_words *walk, uint32_t type, const struct pd_array *words,
                      uint32_t index, struct pd_text *text)
{
    uint32_t head = head_words(type, words);
    if (index >= head) {
        bool counts = type != PD_AUXTRACE_CS_ETM || pd_array_at(words, 0) > 0;
        if (index >= walk->end)
            begin_cpu(walk, type, words, index);
        put_cpu_word(walk, counts, index - walk->begin, text);
        return;
    }
    if (head != UINT32_MAX && type == PD_AUXTRACE_ARM_SPE) {
        if (index < PD_LENGTH(spe_head))
            pd_text_string(text, spe_head[index]);
        else
            pd_text_format(text, "word%u", index);
        return;
    }
    for (size_t i = 0; i < PD_LENGTH(types); i++) {
        if (types[i].type == type && index < types[i].count) {
            pd_text_string(text, types[i].names[index]);
            return;
        }
        if (types[i].type == type && type == PD_AUXTRACE_INTEL_PT) {
            put_filter_word(words, index, text);
            return;
        }
    }
    pd_text_format(text, "word%u", index);
}
