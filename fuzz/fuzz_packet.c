/* SPDX-License-Identifier: MIT */
/* Intel PT packets of any bytes: each step goes on by at least one byte and never past the end. */
#include "itrace/intel_pt/packet.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum pd_pt_context context = PD_PT_NO_BLOCK;
    struct pd_pt_packet packet;
    uint64_t ip = 0;
    for (size_t at = 0; at < size; at += packet.size) {
        pd_pt_packet_decode(data + at, size - at, &context, &packet);
        if (!packet.size || packet.size > size - at || packet.kind >= PD_PT_KINDS)
            abort();
        pd_pt_ip(&packet, &ip);
    }
    struct pd_text out = { 0 };
    pd_pt_dump(data, size, &out);
    pd_text_free(&out);
    return 0;
}
