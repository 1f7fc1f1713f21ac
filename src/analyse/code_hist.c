/* SPDX-License-Identifier: MIT */
/* Counts of samples by function and address. */
#include "analyse/code_hist.h"

static uint64_t hash_of(uint32_t function, uint32_t event, uint64_t offset)
{
    return pd_hash_pair((uint64_t)function << 32 | event, offset);
}

static uint64_t hash_of_cell(const void *data, size_t id)
{
    const struct pd_code_cell *cell = &((const struct pd_code_hist *)data)->cells.data[id];
    return hash_of(cell->function, cell->event, cell->offset);
}

/* PD_MAP64_NONE without memory. */
static uint32_t cell_id(struct pd_code_hist *hist, uint32_t function, uint32_t event,
                        uint64_t offset)
{
    if (!pd_slots_reserve(&hist->slots, &hist->mask, hist->cells.count, hash_of_cell, hist))
        return PD_MAP64_NONE;
    size_t at = hash_of(function, event, offset) & hist->mask;
    for (; hist->slots[at]; at = (at + 1) & hist->mask) {
        const struct pd_code_cell *cell = &hist->cells.data[hist->slots[at] - 1];
        if (cell->function == function && cell->event == event && cell->offset == offset)
            return hist->slots[at] - 1;
    }
    struct pd_code_cell cell = { .function = function, .event = event, .offset = offset };
    if (hist->cells.count >= PD_MAP64_NONE - 1 || !pd_vec_push(&hist->cells, cell))
        return PD_MAP64_NONE;
    hist->slots[at] = (uint32_t)hist->cells.count;
    return (uint32_t)hist->cells.count - 1;
}

/* The earliest sample decides the map; PD_MAP64_NONE without memory. */
static uint32_t function_id(struct pd_code_hist *hist, const struct pd_code_function *function)
{
    uint64_t key = (uintptr_t)function->symbol;
    uint32_t id = pd_map64_get(&hist->by_symbol, key);
    if (id == PD_MAP64_NONE) {
        id = (uint32_t)hist->functions.count;
        bool kept = id < PD_MAP64_NONE - 1 && pd_vec_push(&hist->functions, *function) &&
                    pd_map64_set(&hist->by_symbol, key, id);
        return kept ? id : PD_MAP64_NONE;
    }
    struct pd_code_function *known = &hist->functions.data[id];
    if (function->number < known->number)
        *known = *function;
    return id;
}

bool pd_code_hist_wants(const char *name, struct pd_location *location)
{
    if (location->memo[1])
        return !pd_code_hist_is_unwanted(location);
    bool wanted = location->sym && !strcmp(location->sym->name, name);
    if (!wanted)
        location->memo[1] = PD_CODE_NOT_WANTED;
    return wanted;
}

/* The number that a location's function has, which is learnt with its first sample. */
static uint32_t function_of(struct pd_code_hist *hist, const struct pd_location *location,
                            uint64_t number)
{
    struct pd_code_function function = {
        .symbol = location->sym, .dso = location->dso, .map = location->map, .number = number
    };
    return location->memo[1] ? (uint32_t)location->memo[1] - 1 : function_id(hist, &function);
}

static PD_NOINLINE uint32_t cell_of(struct pd_code_hist *hist, struct pd_location *location,
                                    uint64_t offset, uint32_t event, uint64_t number)
{
    uint32_t function = function_of(hist, location, number);
    uint32_t id = function != PD_MAP64_NONE ? cell_id(hist, function, event, offset)
                                            : PD_MAP64_NONE;
    if (id == PD_MAP64_NONE)
        hist->failed = true;
    else
        location->memo[1] = (uint64_t)(id + 1) << 32 | (function + 1);
    return id;
}

void pd_code_hist_count(struct pd_code_hist *hist, struct pd_location *location, uint64_t addr,
                        uint32_t event, uint64_t number, uint64_t period)
{
    const struct pd_symbol *symbol = location->sym;
    if (!symbol || addr < symbol->start || addr >= symbol->end)
        return;
    const uint64_t offset = addr - symbol->start;
    uint32_t id = (uint32_t)(location->memo[1] >> 32) - 1;
    const struct pd_code_cell *last = location->memo[1] ? &hist->cells.data[id] : NULL;
    if (!last || last->event != event || last->offset != offset)
        id = cell_of(hist, location, offset, event, number);
    if (id == PD_MAP64_NONE)
        return;
    hist->cells.data[id].count++;
    hist->cells.data[id].period += period;
}

bool pd_code_hist_merge(struct pd_code_hist *into, const struct pd_code_hist *from)
{
    into->failed |= from->failed;
    uint32_t *ids = calloc(from->functions.count + 1, sizeof *ids);
    if (!ids)
        into->failed = true;
    for (size_t i = 0; !into->failed && i < from->functions.count; i++) {
        ids[i] = function_id(into, &from->functions.data[i]);
        into->failed |= ids[i] == PD_MAP64_NONE;
    }
    for (size_t i = 0; !into->failed && i < from->cells.count; i++) {
        const struct pd_code_cell *cell = &from->cells.data[i];
        uint32_t id = cell_id(into, ids[cell->function], cell->event, cell->offset);
        into->failed |= id == PD_MAP64_NONE;
        if (into->failed)
            break;
        into->cells.data[id].count += cell->count;
        into->cells.data[id].period += cell->period;
    }
    free(ids);
    return !into->failed;
}

static int compare_cells(const void *left, const void *right)
{
    const struct pd_code_cell *a = left, *b = right;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->event != b->event)
        return a->event < b->event ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

void pd_code_hist_sort(struct pd_code_hist *hist)
{
    if (hist->cells.count)
        qsort(hist->cells.data, hist->cells.count, sizeof *hist->cells.data, compare_cells);
    for (size_t i = 0; i < hist->cells.count; i++) {
        struct pd_code_function *function = &hist->functions.data[hist->cells.data[i].function];
        if (!function->count++)
            function->first = i;
    }
    free(hist->slots); /* places have changed */
    hist->slots = NULL;
}

const struct pd_code_function *pd_code_hist_function(const struct pd_code_hist *hist,
                                                     const struct pd_symbol *symbol)
{
    uint32_t id = symbol ? pd_map64_get(&hist->by_symbol, (uintptr_t)symbol) : PD_MAP64_NONE;
    return id == PD_MAP64_NONE ? NULL : &hist->functions.data[id];
}

const struct pd_code_cell *pd_code_hist_cells(const struct pd_code_hist *hist,
                                              const struct pd_code_function *function,
                                              uint32_t event, size_t *count)
{
    const struct pd_code_cell *cells = hist->cells.data + function->first;
    size_t first = 0, end;
    while (first < function->count && cells[first].event != event)
        first++;
    for (end = first; end < function->count && cells[end].event == event;)
        end++;
    *count = end - first;
    return cells + first;
}

void pd_code_hist_free(struct pd_code_hist *hist)
{
    free(hist->functions.data);
    free(hist->cells.data);
    free(hist->slots);
    pd_map64_free(&hist->by_symbol);
    memset(hist, 0, sizeof *hist);
}
