/* SPDX-License-Identifier: MIT */
/* Frames -> where objects lie, and which is the program that most samples are in. */
#include "convert/places.h"
#include <stdlib.h>

enum { PAGE = 4096 };

static bool is_library(const struct perfdata_profile_object *object)
{
    const char *so = strstr(object->name, ".so");
    return object->is_kernel || *object->name == '[' || (so && (!so[3] || so[3] == '.'));
}

perfdata_status pd_places_weigh(struct pd_convert *x, struct pd_places *places)
{
    struct perfdata_query query = PERFDATA_QUERY_INIT;
    struct perfdata_row *rows;
    size_t count;
    query.key = PERFDATA_BY_OBJECT;
    if (!pd_vec_widen_to(&places->totals, (size_t)perfdata_profile_object_count(x->profile) + 1))
        return pd_convert_no_memory(x);
    if (places->parts++ && !x->profile->sums.count) /* the last part ended with the recording */
        return PERFDATA_OK;
    if (perfdata_profile_rows(x->profile, &query, &rows, &count) < 0)
        return pd_convert_no_memory(x);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].key == PERFDATA_NONE)
            continue;
        struct perfdata_row *total = &places->totals.data[rows[i].key];
        total->self_weight += rows[i].self_weight;
        total->total_weight += rows[i].total_weight;
        total->total_count += rows[i].total_count;
    }
    perfdata_rows_free(rows);
    return PERFDATA_OK;
}

/* Equal ones are in the order of perfdata_profile_rows(). */
uint32_t pd_places_main(const perfdata_profile *profile, const struct pd_places *places)
{
    const struct perfdata_row *best = NULL;
    uint32_t main = PERFDATA_NONE;
    for (uint32_t i = 0; i < perfdata_profile_object_count(profile); i++) {
        const struct perfdata_row *row = &places->totals.data[i];
        const bool program = !is_library(perfdata_profile_object(profile, i));
        if (!row->total_count)
            continue;
        const uint64_t rank[] = { program, program ? row->total_count : 0, row->self_weight,
                                  row->total_weight };
        const bool was = best && !is_library(perfdata_profile_object(profile, main));
        const uint64_t least[] = { was, was ? best->total_count : 0, best ? best->self_weight : 0,
                                   best ? best->total_weight : 0 };
        size_t k = 0;
        while (k < PD_LENGTH(rank) && rank[k] == least[k])
            k++;
        if (best && (k == PD_LENGTH(rank) || rank[k] < least[k]))
            continue;
        best = row;
        main = i;
    }
    return main;
}

uint64_t pd_place_address(const perfdata_profile *profile,
                          const struct perfdata_profile_frame *frame)
{
    return frame->address ? frame->address : pd_profile_function(profile, frame->function)->address;
}

bool pd_places_measure(const perfdata_profile *profile, struct pd_places *places)
{
    while (places->list.count < perfdata_profile_object_count(profile))
        if (!pd_vec_push(&places->list, (struct pd_place){ .start = UINT64_MAX }))
            return false;
    for (uint32_t i = 0; i < perfdata_profile_frame_count(profile); i++) {
        const struct perfdata_profile_frame *frame = pd_profile_frame(profile, i);
        uint32_t object = pd_profile_function(profile, frame->function)->object;
        if (object == PERFDATA_NONE)
            continue;
        struct pd_place *place = &places->list.data[object];
        uint64_t address = pd_place_address(profile, frame);
        place->start = PD_MIN(place->start, address);
        place->limit = PD_MAX(place->limit, address);
        place->lines |= frame->line != 0;
    }
    return true;
}

/* Whether all addresses of the object that occur lie in the map. */
static bool holds(const struct perfdata_profile_mapping *map, const struct pd_place *place)
{
    return place->start <= place->limit && place->start >= map->offset &&
           place->limit - map->offset < map->end - map->start;
}

#define NOWHERE UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

/* Finds for each object the first mapping that holds its addresses, if all such mappings lie at one
 * place. */
static void find_mappings(const perfdata_profile *profile, const struct pd_place *places,
                          uint32_t *where)
{
    for (uint32_t i = 0; i < perfdata_profile_object_count(profile); i++)
        where[i] = NOWHERE;
    for (uint32_t i = 0; i < perfdata_profile_mapping_count(profile); i++) {
        const struct perfdata_profile_mapping *map = perfdata_profile_mapping(profile, i);
        uint32_t *at = &where[map->object];
        if (!holds(map, &places[map->object]) || *at == SEVERAL)
            continue;
        if (*at == NOWHERE) {
            *at = i;
            continue;
        }
        const struct perfdata_profile_mapping *first = perfdata_profile_mapping(profile, *at);
        if (first->start != map->start || first->end != map->end || first->offset != map->offset)
            *at = SEVERAL;
    }
}

bool pd_places_find(const perfdata_profile *profile, struct pd_places *places)
{
    uint32_t objects = perfdata_profile_object_count(profile);
    uint64_t next = UINT64_C(1) << 48;
    uint32_t *where = calloc((size_t)objects + 1, sizeof *where);
    if (where)
        find_mappings(profile, places->list.data, where);
    for (uint32_t i = 0; where && i < objects; i++) {
        struct pd_place *place = &places->list.data[i];
        bool is_kernel = perfdata_profile_object(profile, i)->is_kernel;
        if (where[i] < SEVERAL && !is_kernel) {
            const struct perfdata_profile_mapping *map = perfdata_profile_mapping(profile,
                                                                                  where[i]);
            *place = (struct pd_place){ map->start, map->end, map->offset, 0, place->lines };
            continue;
        }
        if (place->start > place->limit)
            continue;
        uint64_t last = place->limit / PAGE * PAGE;
        if (is_kernel) { /* in memory already */
            place->offset = place->start = place->start / PAGE * PAGE;
            place->limit = last > UINT64_MAX - PAGE ? UINT64_MAX : last + PAGE;
            continue;
        }
        uint64_t size = last > next ? next : last + PAGE; /* some lie in no file */
        *place = (struct pd_place){ next, next + size, 0, 0, place->lines };
        next += size;
    }
    free(where);
    return where;
}

void pd_places_free(struct pd_places *places)
{
    pd_vec_free(&places->list);
    pd_vec_free(&places->totals);
}
