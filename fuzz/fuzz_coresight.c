/* SPDX-License-Identifier: MIT */
/* CoreSight: the first bytes are what AUXTRACE_INFO says, the others a trace. */
#include "itrace/coresight/coresight.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { INFO = 256 };
    struct pd_coresight coresight;
    struct pd_text out = { 0 };
    size_t info = PD_MIN(size, (size_t)INFO);
    struct pd_array words = { data, (uint32_t)info / 8, 8, false };
    pd_coresight_read(&words, &coresight);
    pd_coresight_info_text(&words, &out);
    for (unsigned id = 0; id < PD_CORESIGHT_IDS; id += 2)
        coresight.known[id] = true;
    coresight.name = "ETMV4I";
    pd_coresight_dump(&coresight, data + info, size - info, 0, &out);
    pd_text_free(&out);
    return 0;
}
