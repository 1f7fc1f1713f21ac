/* SPDX-License-Identifier: MIT */
/* Who holds a stream: itself, and each array that it gave. */
#include "convert/arrow/arrow.h"
#include <stdlib.h>

void pd_arrow_hold(struct pd_arrow_stream *stream)
{
    atomic_fetch_add_explicit(&stream->holders, 1, memory_order_relaxed);
}

static void free_words(struct pd_arrow_words *words)
{
    pd_strings_free(&words->strings);
    free(words->of);
    free(words->ends);
    free(words->bytes);
}

void pd_arrow_drop(struct pd_arrow_stream *stream)
{
    if (atomic_fetch_sub_explicit(&stream->holders, 1, memory_order_acq_rel) != 1)
        return;
    free_words(&stream->comms);
    free_words(&stream->events);
    perfdata_rows_free(stream->list);
    perfdata_profile_free(stream->profile);
    free(stream);
}
