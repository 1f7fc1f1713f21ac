/* SPDX-License-Identifier: MIT */
/* Bytes of an object -> what its straight runs of instructions are and where they lead. */
#include "base/memory.h"
#include "itrace/code/object.h"
#include <stdlib.h>

/* ---- facts ---- */

/* ud2 and a text: what perf_emulate_ptwrite() jumps over. */
static bool marks_ptwrite(const struct pd_insn *insn, const uint8_t *behind, size_t size)
{
    static const uint8_t mark[16] = { 0x0f, 0x0b, 'p', 'e', 'r', 'f', ',', 'p',
                                      't',  'w',  'r', 'i', 't', 'e', ' ', ' ' };

    return insn->op == PD_INSN_JMP && insn->branch == PD_BRANCH_UNCONDITIONAL &&
           insn->rel == (int32_t)sizeof mark && size >= sizeof mark &&
           !memcmp(behind, mark, sizeof mark);
}

void pd_code_decode(const uint8_t *bytes, size_t size, bool is_64_bit, uint8_t *lengths,
                    struct pd_code_facts *out)
{
    struct pd_insn insn = { 0 };
    size_t at = 0;

    *out = (struct pd_code_facts){ .lengths = lengths };
    while (out->insns < PD_CODE_RUN && insn.branch == PD_BRANCH_NONE) {
        size_t room = PD_MIN(size - at, (size_t)PD_INSN_BUFFER);
        if (!pd_insn_decode(bytes + at, room, is_64_bit, &insn))
            break;
        at += insn.length;
        lengths[out->insns++] = insn.length;
    }
    out->size = (uint32_t)at;
    if (insn.branch != PD_BRANCH_NONE) {
        out->op = insn.op;
        out->branch = insn.branch;
        out->rel = insn.rel;
        out->emulated_ptwrite = marks_ptwrite(&insn, bytes + at, size - at);
    }
}

static const struct pd_code_facts *make_facts(struct pd_code_object *object, uint64_t offset)
{
    uint8_t lengths[PD_CODE_RUN];
    struct pd_code_facts found;

    pd_code_decode(object->image->data + offset, object->image->size - offset,
                   object->image->is_64_bit, lengths, &found);
    if (!found.insns)
        return NULL;
    struct pd_code_facts *facts = pd_arena_alloc(&object->arena, sizeof *facts + found.insns);
    if (!facts || !pd_vec_reserve(&object->facts, object->facts.count + 1) ||
        !pd_map64_set(&object->by_offset, offset, (uint32_t)object->facts.count))
        return NULL;
    *facts = found;
    facts->lengths = memcpy(facts + 1, lengths, found.insns);
    object->facts.data[object->facts.count++] = facts;
    return facts;
}

const struct pd_code_facts *pd_code_object_at(struct pd_code_object *object, uint64_t offset)
{
    const struct pd_code_facts *facts = NULL;

    if (offset >= object->image->size)
        return NULL;
    pthread_mutex_lock(&object->lock);
    uint32_t at = pd_map64_get(&object->by_offset, offset);
    facts = at != PD_MAP64_NONE ? object->facts.data[at] : make_facts(object, offset);
    pthread_mutex_unlock(&object->lock);
    return facts;
}

struct pd_code_object *pd_code_object_of(struct pd_code *code, const struct pd_image *image)
{
    struct pd_code_object *object = NULL;
    uint64_t key = (uint64_t)(uintptr_t)image;

    pthread_mutex_lock(&code->lock);
    uint32_t at = pd_map64_get(&code->by_image, key);
    if (at != PD_MAP64_NONE) {
        object = code->objects.data[at];
    } else if (pd_vec_reserve(&code->objects, code->objects.count + 1) &&
               (object = pd_memory_noted(calloc(1, sizeof *object))) != NULL) {
        object->image = image;
        pthread_mutex_init(&object->lock, NULL);
        if (pd_map64_set(&code->by_image, key, (uint32_t)code->objects.count)) {
            code->objects.data[code->objects.count++] = object;
        } else {
            free(object);
            object = NULL;
        }
    }
    pthread_mutex_unlock(&code->lock);
    return object;
}

static void free_object(struct pd_code_object *object)
{
    pd_map64_free(&object->by_offset);
    pd_vec_free(&object->facts);
    pd_arena_free(&object->arena);
    pthread_mutex_destroy(&object->lock);
    free(object);
}

/* ---- the session's ---- */

struct pd_code *pd_code_new(struct pd_symbols *symbols)
{
    struct pd_code *code = calloc(1, sizeof *code);

    if (!code)
        return NULL;
    code->symbols = symbols;
    pthread_mutex_init(&code->lock, NULL);
    pd_code_pokes_init(&code->pokes);
    return code;
}

void pd_code_free(struct pd_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->objects.count; i++)
        free_object(code->objects.data[i]);
    pd_vec_free(&code->objects);
    pd_map64_free(&code->by_image);
    pd_map64_free(&code->told);
    pd_code_pokes_free(&code->pokes);
    pthread_mutex_destroy(&code->lock);
    free(code);
}

void pd_code_see(struct pd_code *code, const struct pd_map *map)
{
    uint64_t key = (uint64_t)(uintptr_t)map->dso;

    pthread_mutex_lock(&code->lock);
    if (pd_map64_get(&code->told, key) == PD_MAP64_NONE)
        pd_map64_set(&code->told, key, 1); /* without memory an error is told once more */
    pthread_mutex_unlock(&code->lock);
}

static int see_map(void *data, const struct pd_map *map)
{
    struct pd_code *code = data;

    if (map->dso->long_name[0] != '/')
        return 0;
    if (pd_symbols_is_here(code->symbols, map->dso) && pd_symbols_image(code->symbols, map))
        return 1;
    pd_code_see(code, map);
    return 0;
}

void pd_code_see_vdso(struct pd_code *code, const struct pd_thread *thread)
{
    pd_thread_each_map(thread, UINT64_MAX, see_map, code);
}

bool pd_code_tell(struct pd_code *code, const struct pd_map *map, enum pd_code_error error)
{
    enum { TOLD = 2 }; /* perf knows that an object failed only when it comes to it again */

    if (error != PD_CODE_UNREADABLE || !map)
        return true;
    uint64_t key = (uint64_t)(uintptr_t)map->dso;
    pthread_mutex_lock(&code->lock);
    uint32_t count = pd_map64_get(&code->told, key);
    count = count == PD_MAP64_NONE ? 1 : PD_MIN(count + 1, (uint32_t)TOLD + 1);
    bool kept = pd_map64_set(&code->told, key, count);
    pthread_mutex_unlock(&code->lock);
    return !kept || count <= TOLD;
}
