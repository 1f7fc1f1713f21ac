/* SPDX-License-Identifier: MIT */
/* Numbers and bits of the format -> names, and back. */
#include "format/names.h"
#include <elf.h>
#include "format/features.h"
#include <elf.h>

#define VALUES(group) static const struct pd_name items_##group[] = {
#define BITS(group) static const struct pd_name items_##group[] = {
#define ITEM(PREFIX, NAME, number, text) { (uint64_t)(number), text },
#define GROUP_END(group)                                                                           \
    {                                                                                              \
        0, NULL                                                                                    \
    }                                                                                              \
    }                                                                                              \
    ;
#include "format/bits.def"
#undef VALUES
#undef BITS
#undef ITEM
#undef GROUP_END
#define VALUES(group) const struct pd_names pd_names_##group = { false, items_##group };
#define BITS(group) const struct pd_names pd_names_##group = { true, items_##group };
#define ITEM(PREFIX, NAME, number, text)
#define GROUP_END(group)
#include "format/bits.def"
#undef VALUES
#undef BITS
#undef ITEM
#undef GROUP_END

static const struct pd_name items_sample_type[] = {
#define SAMPLE_WORD(NAME, bit, name, kind) { UINT64_C(1) << (bit), #NAME },
#define SAMPLE_PAIR(NAME, bit, low, low_kind, high, high_kind) { UINT64_C(1) << (bit), #NAME },
#define SAMPLE_PART(NAME, bit, function) { UINT64_C(1) << (bit), #NAME },
#define SAMPLE_TAIL(NAME, bit, name, kind) { UINT64_C(1) << (bit), #NAME },
#define SAMPLE_ALIAS(NAME, bit, OTHER) { UINT64_C(1) << (bit), #NAME },
#include "format/sample.def"
    { 0, NULL }
};
const struct pd_names pd_names_sample_type = { true, items_sample_type };

static const struct pd_name items_flags[] = {
#define ATTR_FIELD(offset, kind, name, ...)
#define ATTR_FLAG(number, NAME, name) { UINT64_C(1) << (number), #name },
#include "format/attr.def"
#undef ATTR_FIELD
#undef ATTR_FLAG
    { 0, NULL }
};
const struct pd_names pd_names_flags = { true, items_flags };

static const struct pd_name items_record[] = {
#define RECORD(number, NAME, name) { number, #NAME },
#include "format/nothing.h"
#include "format/records.def"
#define PD_FORGET
#include "format/nothing.h"
    { 0, NULL }
};
const struct pd_names pd_names_record = { false, items_record };

static const struct pd_name items_feature[] = {
#define FEATURE(number, NAME, name) { number, #NAME },
#include "format/nothing.h"
#include "format/features.def"
#define PD_FORGET
#include "format/nothing.h"
    { 0, NULL }
};
const struct pd_names pd_names_feature = { false, items_feature };

const char *pd_name_of(const struct pd_names *names, uint64_t value)
{
    for (const struct pd_name *item = names->items; item->text; item++)
        if (item->value == value)
            return item->text;
    return NULL;
}

const char *pd_branch_type_text(uint64_t flags)
{
    const uint64_t type = PD_BRANCH_PART(flags, TYPE);
    const char *name = type == PD_BRANCH_EXTEND_ABI
                           ? pd_name_of(&pd_names_branch_new_type, PD_BRANCH_PART(flags, NEW_TYPE))
                           : pd_name_of(&pd_names_branch_type, type);
    return !type ? "" : name ? name : "(null)";
}

const char *pd_record_type_name(uint32_t type)
{
    switch (type) { /* asked for each record that is looked at: faster than a walk of the names */
#define RECORD(number, NAME, name)                                                                 \
    case number:                                                                                   \
        return #NAME;
#include "format/nothing.h"
#include "format/records.def"
#define PD_FORGET
#include "format/nothing.h"
    default: return NULL;
    }
}

const char *pd_feature_name(unsigned feature)
{
    return pd_name_of(&pd_names_feature, feature);
}

/* Appends one word of a list whose text began at `start`. */
static void add_word(struct pd_text *text, size_t start, const char *between, const char *word)
{
    if (text->length != start)
        pd_text_string(text, between);
    pd_text_string(text, word);
}

static void add_unnamed(struct pd_text *text, size_t start, const char *between, uint64_t bits)
{
    if (bits || text->length == start) {
        add_word(text, start, between, bits ? "0x" : "");
        pd_text_hex(text, bits, 0, ' ');
    }
}

void pd_bits_text(struct pd_text *text, const struct pd_names *names, uint64_t value,
                  const char *between)
{
    size_t start = text->length;
    for (const struct pd_name *item = names->items; item->text; item++) {
        if (item->value && (value & item->value) == item->value) {
            add_word(text, start, between, item->text);
            value &= ~item->value;
        }
    }
    add_unnamed(text, start, between, value);
}

/* No bit means something in more than four types of records. */
struct misc_bit {
    uint16_t mask;
    const char *text;
    uint32_t types[4];
};

static const struct misc_bit misc_bits[] = {
#define MISC(NAME, mask, text, ...) { mask, text, { __VA_ARGS__ } },
#include "format/misc.def"
#undef MISC
};

void pd_misc_text(struct pd_text *text, uint32_t type, uint16_t misc, const char *between)
{
    size_t start = text->length;
    const char *mode = pd_name_of(&pd_names_cpumode, misc & PD_MISC_CPUMODE_MASK);
    if (mode && (misc & PD_MISC_CPUMODE_MASK)) {
        pd_text_string(text, mode);
        misc &= (uint16_t)~PD_MISC_CPUMODE_MASK;
    }
    for (size_t i = 0; i < PD_LENGTH(misc_bits); i++) {
        const struct misc_bit *bit = &misc_bits[i];
        for (size_t t = 0; t < PD_LENGTH(bit->types) && bit->types[t]; t++) {
            if (bit->types[t] == type && (misc & bit->mask)) {
                add_word(text, start, between, bit->text);
                misc &= (uint16_t)~bit->mask;
            }
        }
    }
    add_unnamed(text, start, between, misc);
}

/* ---- registers */

struct reg_range {
    uint8_t first, last;
    const char *name;
};

#define ARCH(name, ip, sp) static const struct reg_range regs_##name[] = {
#define REGS(first, last, name) { first, last, name },
#define ARCH_END(name)                                                                             \
    {                                                                                              \
        0, 0, NULL                                                                                 \
    }                                                                                              \
    }                                                                                              \
    ;
#include "format/regs.def"
#undef ARCH
#undef REGS
#undef ARCH_END

static const struct {
    const char *name;
    uint8_t ip, sp;
    const struct reg_range *ranges;
} arches[] = {
#define ARCH(name, ip, sp) { #name, ip, sp, regs_##name },
#define REGS(first, last, name)
#define ARCH_END(name)
#include "format/regs.def"
#undef ARCH
#undef REGS
#undef ARCH_END
};

const char *pd_arch_normalise(const char *arch)
{
    static const struct {
        const char *prefix, *name;
    } rules[] = {
        { "x86", "x86" },         { "amd64", "x86" },   { "aarch64", "arm64" },
        { "arm64", "arm64" },     { "riscv", "riscv" }, { "loongarch", "loongarch" },
        { "arm", "arm" },         { "sa110", "arm" },   { "ppc", "powerpc" },
        { "powerpc", "powerpc" }, { "s390", "s390" },   { "mips", "mips" },
        { "sparc", "sparc" },     { "sun4u", "sparc" }, { "parisc", "parisc" },
    };
    if (arch[0] == 'i' && arch[1] >= '3' && arch[1] <= '6' && !strcmp(arch + 2, "86"))
        return "x86";
    if (arch[0] == 's' && arch[1] == 'h' && arch[2] >= '0' && arch[2] <= '9')
        return "sh";
    for (size_t i = 0; i < PD_LENGTH(rules); i++)
        if (!strncmp(arch, rules[i].prefix, strlen(rules[i].prefix)))
            return rules[i].name;
    return arch;
}

bool pd_arch_is_32_bit(const char *arch)
{
    static const char *const names[] = { "mips",    "ppc",    "ppcle", "powerpc", "s390",  "sparc",
                                         "riscv32", "parisc", "m68k",  "csky",    "xtensa" };
    const char *family = pd_arch_normalise(arch);
    if (!strcmp(family, "arm") || !strcmp(family, "sh"))
        return true;
    if (!strcmp(family, "x86"))
        return arch[0] == 'i';
    for (size_t i = 0; i < PD_LENGTH(names); i++)
        if (!strcmp(arch, names[i]))
            return true;
    return false;
}

static const struct machine {
    const char *arch;
    uint16_t narrow, wide;
} machines[] = {
    { "x86", EM_386, EM_X86_64 },
    { "arm", EM_ARM, EM_ARM },
    { "arm64", EM_ARM, EM_AARCH64 },
    { "riscv", EM_RISCV, EM_RISCV },
    { "powerpc", EM_PPC, EM_PPC64 },
    { "s390", EM_S390, EM_S390 },
    { "mips", EM_MIPS, EM_MIPS },
    { "sparc", EM_SPARC, EM_SPARCV9 },
    { "loongarch", EM_LOONGARCH, EM_LOONGARCH },
};

/* NULL: of another architecture. */
static const struct machine *machine_of(const char *arch)
{
    for (size_t i = 0; i < PD_LENGTH(machines); i++)
        if (!strcmp(machines[i].arch, pd_arch_normalise(arch)))
            return &machines[i];
    return NULL;
}

uint16_t pd_features_machine(const struct pd_features *features)
{
    if (features && features->e_machine.present)
        return (uint16_t)features->e_machine.machine;
    const char *arch = pd_features_arch(features);
    const struct machine *machine = machine_of(arch);
    return !machine ? 0 : pd_arch_is_32_bit(arch) ? machine->narrow : machine->wide;
}

uint16_t pd_features_compat_machine(const struct pd_features *features)
{
    const char *arch = pd_features_arch(features);
    const struct machine *machine = machine_of(arch);
    return machine && !pd_arch_is_32_bit(arch) ? machine->narrow : 0;
}

const char *pd_features_arch(const struct pd_features *features)
{
    if (features && features->arch.present && features->arch.text.text)
        return features->arch.text.text;
#if defined(__x86_64__) || defined(__i386__)
    return "x86_64";
#elif defined(__aarch64__)
    return "aarch64";
#elif defined(__arm__)
    return "arm";
#elif defined(__s390x__)
    return "s390x";
#elif defined(__powerpc__)
    return "ppc";
#else
    return "";
#endif
}

bool pd_features_are_x86_64(const struct pd_features *features)
{
    const char *arch = pd_features_arch(features);
    bool is_386 = arch[0] == 'i' || (features && features->e_machine.present &&
                                     features->e_machine.machine == EM_386);
    return !is_386 && !strcmp(pd_arch_normalise(arch), "x86");
}

static size_t family_index(const char *family)
{
    size_t i = 0;
    while (i < PD_LENGTH(arches) && strcmp(arches[i].name, family) != 0)
        i++;
    return i;
}

const char *pd_register_name(const char *arch, unsigned index, uint64_t abi)
{
    enum { LEGACY_END = 24 }; /* x86: registers that no abi names otherwise */
    const char *family = arch ? pd_arch_normalise(arch) : "";
    if (abi & PD_REGS_ABI_SIMD && index >= LEGACY_END && !strcmp(family, "x86"))
        family = "x86_simd";
    size_t i = family_index(family);
    if (i < PD_LENGTH(arches))
        for (const struct reg_range *range = arches[i].ranges; range->name; range++)
            if (index >= range->first && index <= range->last)
                return range->name;
    return "unknown";
}

bool pd_perf_names_registers(const char *arch)
{
    const char *family = pd_arch_normalise(arch);
    bool is_new = !strcmp(family, "riscv") || !strcmp(family, "loongarch");
    return !is_new || !strcmp(family, arch);
}

bool pd_register_ip_sp(const char *arch, unsigned *ip, unsigned *sp)
{
    size_t i = family_index(pd_arch_normalise(arch));
    if (i == PD_LENGTH(arches))
        return false;
    *ip = arches[i].ip;
    *sp = arches[i].sp;
    return true;
}
