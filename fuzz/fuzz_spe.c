/* SPDX-License-Identifier: MIT */
/* Arm SPE: a trace in two buffers of memory, cut where the first byte says, to packets as the raw
 * dump shows them and to records with their sources of data. */
#include "itrace/spe/packet.h"
#include "itrace/spe/record.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const struct pd_aux *aux)
{
    struct pd_spe_reader reader;
    struct pd_spe_record record;
    uint64_t all = 0;
    pd_spe_reader_init(&reader, aux, 0);
    while (pd_spe_read(&reader, &record) > 0)
        pd_spe_data_source(&record, record.context);
    for (size_t i = 0; i < aux->buffers.count; i++)
        all += aux->buffers.data[i].size;
    /* Nothing is read twice. */
    if (reader.bad > all || reader.unknown > all)
        abort();
    free(reader.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pd_recording recording;
    struct pd_text out = { 0 };
    uint32_t indices[] = { 0, 1 };
    size_t cut = size ? PD_MIN((size_t)data[0], size) : 0;
    struct pd_aux_buffer buffers[] = {
        { .size = cut, .memory = (uint8_t *)data },
        { .size = size - cut, .offset = cut, .memory = (uint8_t *)data + cut },
    };
    struct pd_aux_queue queue = { .set = true, .buffers = { indices, 2, 2 } };
    struct pd_aux aux = { .recording = &recording,
                          .buffers = { buffers, 2, 2 },
                          .queues = { &queue, 1, 1 } };
    pd_spe_dump(data, size, &out);
    pd_text_free(&out);
    read_all(&aux);
    return 0;
}
