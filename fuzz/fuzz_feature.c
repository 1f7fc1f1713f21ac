/* SPDX-License-Identifier: MIT */
/* Header features of any bytes: byte 0 is the feature's number, byte 1 the byte order, byte 2 the
 * number of CPUs. */
#include "format/features.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t touched;

static void touch(const struct pd_str *text)
{
    if (!text->text || strlen(text->text) < text->length)
        abort();
    touched += text->length;
}

static void check(const struct pd_features *features)
{
    if (features->hostname.present)
        touch(&features->hostname.text);
    for (uint32_t i = 0; i < features->cmdline.words_count && !features->cmdline.partial; i++)
        touch(&features->cmdline.words[i].text);
    for (uint32_t i = 0; i < features->event_desc.events_count && !features->event_desc.partial;
         i++)
        touch(&features->event_desc.events[i].name);
    for (uint32_t i = 0; i < features->mem_topology.nodes_count; i++)
        for (uint32_t j = 0; j < features->mem_topology.nodes[i].words.count; j++)
            touched += pd_array_at(&features->mem_topology.nodes[i].words, j);
    for (uint32_t i = 0; i < features->build_id.entries_count; i++)
        touched += features->build_id.entries[i].build_id[0] +
                   pd_build_id_length(&features->build_id.entries[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pd_arena arena = { 0 };
    struct pd_context context;
    struct pd_features *features;
    struct pd_part_build_id_entry entry;
    if (size < 3 || !(features = calloc(1, sizeof *features)))
        return 0;
    pd_context_init(&context);
    features->nrcpus.available = data[2];
    uint8_t *payload = malloc(size - 3 + !(size - 3));
    memcpy(payload, data + 3, size - 3);
    pd_feature_decode(features, data[0], payload, size - 3, data[1] & 1, &arena, &context, 0);
    for (size_t at = 0, step; at < size - 3; at += step)
        if (!(step = pd_build_id_next(payload + at, size - 3 - at, data[1] & 1, data[1] & 2,
                                      &entry)))
            break;
    free(payload); /* nothing leads into it */
    check(features);
    if (arena.total > 64 * size + (1u << 20))
        abort();
    pd_arena_free(&arena);
    pd_context_fini(&context);
    free(features);
    return 0;
}
