/* SPDX-License-Identifier: MIT */
/* Names of numbers and bits, for printers and parsers. */
#ifndef PD_NAMES_H
#define PD_NAMES_H
#include "format/format.h"

struct pd_name {
    uint64_t value;
    const char *text; /* NULL ends a list */
};

struct pd_names {
    bool bits; /* masks rather than values */
    const struct pd_name *items;
};

/* pd_names_cpumode ...: one per group of bits.def; sample_type, flags (of attrs), record,
 * feature. */
#define VALUES(group) extern const struct pd_names pd_names_##group;
#define BITS(group) extern const struct pd_names pd_names_##group;
#define ITEM(PREFIX, NAME, number, text)
#define GROUP_END(group)
#include "format/bits.def"
#undef VALUES
#undef BITS
#undef ITEM
#undef GROUP_END
extern const struct pd_names pd_names_sample_type, pd_names_flags, pd_names_record,
    pd_names_feature;

/* The text of a value, or NULL. */
const char *pd_name_of(const struct pd_names *names, uint64_t value);
/* The type of a branch with these flags as perf writes it: "(null)" for a newer type that has no
 * name, "" for none. */
const char *pd_branch_type_text(uint64_t flags);
/* Appends the names of the set bits with `between` between them, what has no name in hexadecimal;
 * "0" for none. */
void pd_bits_text(struct pd_text *text, const struct pd_names *names, uint64_t value,
                  const char *between);
/* The same for the misc of a record of that type, cpumode first. */
void pd_misc_text(struct pd_text *text, uint32_t type, uint16_t misc, const char *between);

/* Registers: the name by architecture (as feature ARCH has it, normalised or not), index and the
 * sample's abi; "unknown". */
const char *pd_register_name(const char *arch, unsigned index, uint64_t abi);
/* perf up to 6.12 does not know these machines by their names: all registers are "unknown" to
 * it. */
bool pd_perf_names_registers(const char *arch);
/* The indices of the instruction and stack pointer; false for an architecture in no table. */
bool pd_register_ip_sp(const char *arch, unsigned *ip, unsigned *sp);
struct pd_features;
/* The machine as feature ARCH names it. Without that feature it is ours, as perf has it. */
/* ELF's number of the machine that was recorded; 0: not known. */
uint16_t pd_features_machine(const struct pd_features *features);
/* Likewise of its 32-bit programs, when it is a 64-bit machine. */
uint16_t pd_features_compat_machine(const struct pd_features *features);
const char *pd_features_arch(const struct pd_features *features);
/* The recording is of an x86 machine in 64-bit mode. */
bool pd_features_are_x86_64(const struct pd_features *features);
/* "x86" for x86_64 and i686, "arm64" for aarch64 ...; what has no other name is returned as it
 * is. */
const char *pd_arch_normalise(const char *arch);
/* Is it a machine, by uname's name, whose addresses have 32 bits? */
bool pd_arch_is_32_bit(const char *arch);

#endif
