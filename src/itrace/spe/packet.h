/* SPDX-License-Identifier: MIT */
/* Packets of Arm's Statistical Profiling Extension (Arm ARM, "Statistical Profiling Extension
 * sample record specification"), and their text as perf's raw dump has it. */
#ifndef PD_SPE_PACKET_H
#define PD_SPE_PACKET_H
#include "base/text.h"

enum pd_spe_kind {
    PD_SPE_BAD, /* the byte begins no known packet, or the packet is cut */
    PD_SPE_PADDING,
    PD_SPE_END,
    PD_SPE_TIMESTAMP,
    PD_SPE_EVENTS,
    PD_SPE_SOURCE,
    PD_SPE_CONTEXT,
    PD_SPE_OPERATION,
    PD_SPE_ADDRESS,
    PD_SPE_COUNTER
};

/* pd_spe_packet.index of addresses, counters and operations. */
enum { PD_SPE_PC, PD_SPE_TARGET, PD_SPE_DATA, PD_SPE_PHYSICAL };
enum { PD_SPE_TOTAL, PD_SPE_ISSUE, PD_SPE_TRANSLATION };
enum { PD_SPE_OTHER, PD_SPE_LOAD_STORE, PD_SPE_BRANCH };
/* Of an "other" operation: whether it is one of SVE. */
#define PD_SPE_IS_SVE_OTHER(payload) (((payload)&0x89) == 0x08)

/* Bits of an events packet. */
enum pd_spe_event {
    PD_SPE_EXCEPTION = 1 << 0,
    PD_SPE_RETIRED = 1 << 1,
    PD_SPE_L1D_ACCESS = 1 << 2,
    PD_SPE_L1D_REFILL = 1 << 3,
    PD_SPE_TLB_ACCESS = 1 << 4,
    PD_SPE_TLB_WALK = 1 << 5,
    PD_SPE_NOT_TAKEN = 1 << 6,
    PD_SPE_MISPREDICTED = 1 << 7,
    PD_SPE_LLC_ACCESS = 1 << 8,
    PD_SPE_LLC_REFILL = 1 << 9,
    PD_SPE_REMOTE = 1 << 10,
    PD_SPE_ALIGNMENT = 1 << 11,
    PD_SPE_PARTIAL_PREDICATE = 1 << 17,
    PD_SPE_EMPTY_PREDICATE = 1 << 18
};

struct pd_spe_packet {
    enum pd_spe_kind kind;
    uint8_t index;  /* which address, counter, operation or exception level */
    uint8_t length; /* bytes of the packet; PD_SPE_BAD: 1 */
    uint64_t payload;
};

/* The longest packet, with the padding that is counted as part of it. */
enum { PD_SPE_LONGEST = 16 };

/* The packet at the first of `size` > 0 bytes; `position` is where it stands in its buffer, to
 * which alignment packets align. Zeros that follow padding belong to it, up to 16 bytes. */
void pd_spe_packet(const uint8_t *bytes, size_t size, uint64_t position, struct pd_spe_packet *out);

/* An instruction's address; which part of memory it is in depends on the exception level. */
uint64_t pd_spe_code_address(uint64_t payload);
/* The address of data, where the tag in the highest byte does not count. */
uint64_t pd_spe_data_address(uint64_t payload);
uint64_t pd_spe_physical_address(uint64_t payload);
/* Whether an operation of that class reads memory, or writes it; as perf 6.1 has it. */
bool pd_spe_is_load(const struct pd_spe_packet *operation);
bool pd_spe_is_store(const struct pd_spe_packet *operation);

/* ".  00000000:  b0 ...  PC 0x400204 el0 ns=1\n" of each packet. */
void pd_spe_dump(const uint8_t *bytes, size_t size, struct pd_text *text);

#endif
