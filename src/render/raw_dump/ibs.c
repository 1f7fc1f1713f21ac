/* SPDX-License-Identifier: MIT */
/* Raw data of an IBS sample (AMD) -> its registers, field by field, as perf 6.1 prints them with
 * -D. The fields were found by feeding perf samples with one bit set at a time. The raw data are a
 * u32 of capabilities, which perf does not look at, then u64 registers in a fixed order. */
#include "render/raw_dump/ibs.h"
#include <stdio.h>

#define ULL(value) ((unsigned long long)(value))

enum op_register {
    OP_CTL,
    OP_RIP,
    OP_DATA,
    OP_DATA2,
    OP_DATA3,
    OP_DC_LINEAR,
    OP_DC_PHYSICAL,
    OP_BRANCH_TARGET
};
enum fetch_register { FETCH_CTL, FETCH_LINEAR, FETCH_PHYSICAL, FETCH_EXTENDED };

enum { CAPABILITIES = 4, WORD = 8 };

static unsigned bits(uint64_t word, unsigned low, unsigned width)
{
    return (unsigned)(word >> low & ((UINT64_C(1) << width) - 1));
}

static unsigned bit(uint64_t word, unsigned low)
{
    return bits(word, low, 1);
}

/* A field of one bit that is printed as " NAME 0" or " NAME 1". */
struct flag {
    const char *name;
    uint8_t at;
};

static void put_flags(const struct flag *flags, size_t count, uint64_t word, struct pd_text *text)
{
    for (size_t i = 0; i < count; i++)
        pd_text_format(text, " %s %u", flags[i].name, bit(word, flags[i].at));
}

/* ---- whose it is ---- */

static void find_types(struct pd_ibs *ibs, const struct pd_feature_pmu_mappings *mappings)
{
    for (uint32_t i = 0; i < mappings->pmus_count; i++) {
        const char *name = mappings->pmus[i].name.text;
        if (!strcmp(name, "ibs_op")) {
            ibs->has_op = true;
            ibs->op_type = mappings->pmus[i].type;
        } else if (!strcmp(name, "ibs_fetch")) {
            ibs->has_fetch = true;
            ibs->fetch_type = mappings->pmus[i].type;
        }
    }
}

static bool has_capability(const struct pd_feature_pmu_caps *caps, const char *pmu,
                           const char *name)
{
    for (uint32_t i = 0; i < caps->pmus_count; i++)
        for (uint32_t k = 0;
             !strcmp(caps->pmus[i].pmu_name.text, pmu) && k < caps->pmus[i].caps_count; k++)
            if (!strcmp(caps->pmus[i].caps[k].name.text, name))
                return true;
    return false;
}

void pd_ibs_init(struct pd_ibs *ibs, const struct pd_recording *recording)
{
    static const char vendor[] = "AuthenticAMD";
    enum { FAMILY_ZEN3 = 0x19, MODELS_EARLY = 0x10 };
    const struct pd_features *features = &recording->features;
    *ibs = (struct pd_ibs){ 0 };
    if (!features->cpuid.present || strncmp(features->cpuid.text.text, vendor, sizeof vendor - 1))
        return;
    ibs->is_amd = true;
    if (features->pmu_mappings.present)
        find_types(ibs, &features->pmu_mappings);
    if (features->pmu_caps.present)
        ibs->has_zen4 = has_capability(&features->pmu_caps, "ibs_op", "zen4_ibs_extensions");
    unsigned family = 0, model = 0;
    if (sscanf(features->cpuid.text.text, "%*[^,],%u,%u", &family, &model) == 2)
        ibs->is_early_zen3 = family == FAMILY_ZEN3 && model < MODELS_EARLY;
}

/* ---- registers of a sample ---- */

struct registers {
    const struct pd_ibs *ibs;
    struct pd_recording *recording;
    const struct pd_delivered *record;
    const struct pd_sample *sample;
};

/* perf does not check how long the raw data are and reads on in the file. So do we, and say so.
 * False: there is nothing to read on. */
static bool read_behind(const struct registers *r, uint64_t at, uint64_t *word)
{
    struct pd_recording *recording = r->recording;
    uint8_t bytes[WORD] = { 0 };
    size_t got = 0;
    struct pd_source *source = r->record->part ? recording->parts.sources[r->record->part - 1]
                                               : recording->source;
    (void)pd_issue(&recording->context, PERFDATA_ISSUE_BAD_SAMPLE, (int64_t)r->record->offset,
                   "the raw data of an IBS sample lack a register: shown is what follows them");
    if (pd_source_is_stream(source) || pd_recording_has_feature(recording, PD_FEATURE_COMPRESSED) ||
        !pd_source_read_quietly(source, r->record->offset + at, bytes, WORD, &got) || got < WORD)
        return false;
    *word = pd_load64(bytes, recording->swap);
    return true;
}

static bool word_at(const struct registers *r, unsigned index, uint64_t *word)
{
    size_t at = CAPABILITIES + WORD * (size_t)index;
    if (at + WORD <= r->sample->raw_size) {
        *word = pd_load64(r->sample->raw + at, r->sample->swap);
        return true;
    }
    return read_behind(r, (uint64_t)(r->sample->raw - r->sample->record) + at, word);
}

static void put_word(const struct registers *r, unsigned index, const char *name,
                     struct pd_text *text)
{
    uint64_t word;
    if (word_at(r, index, &word))
        pd_text_format(text, "%s:\t%016llx\n", name, ULL(word));
}

/* ---- ibs_op ---- */

static void put_op_ctl(const struct pd_ibs *ibs, uint64_t ctl, struct pd_text *text)
{
    /* The count is in units of 16, and its upper bits lie apart from the lower ones. */
    unsigned most = (bits(ctl, 0, 16) | bits(ctl, 20, 7) << 16) << 4;
    pd_text_format(text, "ibs_op_ctl:\t%016llx MaxCnt %9u", ULL(ctl), most);
    if (ibs->has_zen4)
        pd_text_format(text, " L3MissOnly %u", bit(ctl, 16));
    pd_text_format(text, " En %u Val %u CntCtl %u=%s CurCnt %9u\n", bit(ctl, 17), bit(ctl, 18),
                   bit(ctl, 19), bit(ctl, 19) ? "uOps" : "cycles", bits(ctl, 32, 27));
}

static void put_op_data(uint64_t data, struct pd_text *text)
{
    static const struct flag branch[] = { { "OpReturn", 34 },
                                          { "OpBrnTaken", 35 },
                                          { "OpBrnMisp", 36 } };
    bool is_branch = bit(data, 37);
    pd_text_format(text, "ibs_op_data:\t%016llx CompToRetCtr %5u TagToRetCtr %5u", ULL(data),
                   bits(data, 0, 16), bits(data, 16, 16));
    if (is_branch)
        put_flags(branch, PD_LENGTH(branch), data, text);
    pd_text_format(text, " BrnRet %u  RipInvalid %u BrnFuse %u Microcode %u\n", is_branch,
                   bit(data, 38), bit(data, 39), bit(data, 40));
}

static const char *const sources[] = {
    NULL,         "(reserved)", "Local node cache", "DRAM", "Remote node cache", "(reserved)",
    "(reserved)", "Other"
};

static const char *const zen4_sources[] = { NULL,
                                            "Local L3 or other L1/L2 in CCX",
                                            "A peer cache in a near CCX",
                                            "Data returned from DRAM",
                                            "(reserved)",
                                            "A peer cache in a far CCX",
                                            "DRAM address map with \"long latency\" bit set",
                                            "Data returned from MMIO/Config/PCI/APIC",
                                            "Extension Memory (S-Link, GenZ, etc)",
                                            "(reserved)",
                                            "(reserved)",
                                            "(reserved)",
                                            "Peer Agent Memory" };

static void put_op_data2(const struct pd_ibs *ibs, uint64_t data, struct pd_text *text)
{
    enum { LOCAL_CACHE = 2, ZEN4_LOCAL = 1, ZEN4_NEAR = 2, ZEN4_FAR = 5 };
    unsigned source = bits(data, 0, 3);
    const char *name = sources[source];
    bool is_cache = source == LOCAL_CACHE;
    if (ibs->has_zen4) {
        source |= bits(data, 6, 2) << 3;
        name = source < PD_LENGTH(zen4_sources) ? zen4_sources[source] : NULL;
        is_cache = source == ZEN4_LOCAL || source == ZEN4_NEAR || source == ZEN4_FAR;
    }
    pd_text_format(text, "ibs_op_data2:\t%016llx", ULL(data));
    if (is_cache)
        pd_text_format(text, " CacheHitSt %u=%s-%s", bit(data, 5), bit(data, 5) ? "O" : "M",
                       bit(data, 5) ? "State" : "state");
    pd_text_format(text, " RmtNode %u", bit(data, 4));
    if (name)
        pd_text_format(text, " DataSrc %u=%s", source, name);
    pd_text_char(text, '\n');
}

/* Whether the register tells where the data came from. Early Zen 3 does not fill that in for
 * prefetches, and for misses for which no buffer was allocated. */
static bool has_source(const struct pd_ibs *ibs, uint64_t data3)
{
    return !ibs->is_early_zen3 || (!bit(data3, 21) && !bit(data3, 16));
}

static void put_op_data3(const struct pd_ibs *ibs, uint64_t data, struct pd_text *text)
{
    static const struct flag first[] = { { "LdOp", 0 },
                                         { "StOp", 1 },
                                         { "DcL1TlbMiss", 2 },
                                         { "DcL2TlbMiss", 3 },
                                         { "DcL1TlbHit2M", 4 },
                                         { "DcL1TlbHit1G", 5 },
                                         { "DcL2TlbHit2M", 6 },
                                         { "DcMiss", 7 },
                                         { "DcMisAcc", 8 },
                                         { "DcWcMemAcc", 13 },
                                         { "DcUcMemAcc", 14 },
                                         { "DcLockedOp", 15 },
                                         { "DcMissNoMabAlloc", 16 },
                                         { "DcLinAddrValid", 17 },
                                         { "DcPhyAddrValid", 18 },
                                         { "DcL2TlbHit1G", 19 } };
    bool trusted = has_source(ibs, data);
    unsigned width = bits(data, 22, 4);
    pd_text_format(text, "ibs_op_data3:\t%016llx", ULL(data));
    put_flags(first, PD_LENGTH(first), data, text);
    if (trusted)
        pd_text_format(text, " L2Miss %u", bit(data, 20));
    pd_text_format(text, " SwPf %u", bit(data, 21));
    if (width)
        pd_text_format(text, " OpMemWidth %2d bytes", 1 << (width - 1));
    if (trusted)
        pd_text_format(text, " OpDcMissOpenMemReqs %2u", bits(data, 26, 6));
    pd_text_format(text, " DcMissLat %5u TlbRefillLat %5u\n", bits(data, 32, 16),
                   bits(data, 48, 16));
}

static void put_op(const struct registers *r, struct pd_text *text)
{
    uint64_t ctl, data, data2, data3;
    if (!word_at(r, OP_CTL, &ctl) || !bit(ctl, 17) || !bit(ctl, 18))
        return;
    put_op_ctl(r->ibs, ctl, text);
    if (!word_at(r, OP_DATA, &data) || !word_at(r, OP_DATA2, &data2) ||
        !word_at(r, OP_DATA3, &data3))
        return;
    if (!bit(data, 38))
        put_word(r, OP_RIP, "IbsOpRip", text);
    put_op_data(data, text);
    if (has_source(r->ibs, data3))
        put_op_data2(r->ibs, data2, text);
    put_op_data3(r->ibs, data3, text);
    if (bit(data3, 17))
        put_word(r, OP_DC_LINEAR, "IbsDCLinAd", text);
    if (bit(data3, 18))
        put_word(r, OP_DC_PHYSICAL, "IbsDCPhysAd", text);
    if (bit(data, 37))
        put_word(r, OP_BRANCH_TARGET, "IbsBrTarget", text);
}

/* ---- ibs_fetch ---- */

static void put_fetch_ctl(const struct pd_ibs *ibs, uint64_t ctl, struct pd_text *text)
{
    static const char *const pages[] = { "4KB", "2MB", "1GB", "RESERVED" };
    static const char *const early_pages[] = { "4KB", "16KB", "2MB", "1GB" };
    static const struct flag tlb[] = { { "L1TlbMiss", 55 }, { "L2TlbMiss", 56 }, { "RandEn", 57 } };
    static const struct flag zen4[] = { { "L3MissOnly", 59 },
                                        { "FetchOcMiss", 60 },
                                        { "FetchL3Miss", 61 } };
    pd_text_format(text, "ibs_fetch_ctl:\t%016llx MaxCnt %7u Cnt %7u Lat %5u En %u Val %u Comp %u",
                   ULL(ctl), bits(ctl, 0, 16) << 4, bits(ctl, 16, 16) << 4, bits(ctl, 32, 16),
                   bit(ctl, 48), bit(ctl, 49), bit(ctl, 50));
    if (!ibs->is_early_zen3)
        pd_text_format(text, " IcMiss %u", bit(ctl, 51));
    pd_text_format(text, " PhyAddrValid %u", bit(ctl, 52));
    if (bit(ctl, 52))
        pd_text_format(text, " L1TlbPgSz %s",
                       (ibs->is_early_zen3 ? early_pages : pages)[bits(ctl, 53, 2)]);
    put_flags(tlb, PD_LENGTH(tlb), ctl, text);
    if (bit(ctl, 50))
        pd_text_format(text, " L2Miss %u", bit(ctl, 58));
    if (ibs->has_zen4)
        put_flags(zen4, PD_LENGTH(zen4), ctl, text);
    pd_text_char(text, '\n');
}

static void put_fetch(const struct registers *r, struct pd_text *text)
{
    uint64_t ctl, extended;
    if (!word_at(r, FETCH_CTL, &ctl) || !bit(ctl, 48) || !bit(ctl, 49))
        return;
    put_fetch_ctl(r->ibs, ctl, text);
    put_word(r, FETCH_LINEAR, "IbsFetchLinAd", text);
    if (bit(ctl, 52))
        put_word(r, FETCH_PHYSICAL, "IbsFetchPhysAd", text);
    if (word_at(r, FETCH_EXTENDED, &extended))
        pd_text_format(text, "ic_ibs_ext_ctl:\t%016llx IbsItlbRefillLat %3u\n", ULL(extended),
                       bits(extended, 0, 16));
}

void pd_ibs_text(const struct pd_ibs *ibs, struct pd_recording *recording,
                 const struct pd_delivered *record, struct pd_text *text)
{
    struct pd_sample sample;
    if (!ibs->is_amd || record->type != PD_RECORD_SAMPLE || !record->event)
        return;
    uint32_t type = record->event->attr.type;
    bool is_op = ibs->has_op && type == ibs->op_type,
         is_fetch = ibs->has_fetch && type == ibs->fetch_type;
    if ((!is_op && !is_fetch) || pd_delivered_sample(record, &sample) < 0 ||
        sample.raw_size < CAPABILITIES)
        return;
    struct registers registers = { ibs, recording, record, &sample };
    if (is_op)
        put_op(&registers, text);
    else
        put_fetch(&registers, text);
}
