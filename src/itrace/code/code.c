/* SPDX-License-Identifier: MIT */
/* A reader's views and their nodes. */
#include "base/memory.h"
#include "itrace/code/code.h"
#include "itrace/code/object.h"
#include <stdlib.h>

enum {
    NODE_LIMIT = 1 << 20,  /* of a reader; about 150 MB */
    SPACE_NODES = 16,      /* what an empty space counts */
    PRIVATE_BYTES = 1 << 8 /* of a run with patches: few, as each is decoded for itself */
};

/* User space of a set of maps, or the kernel of one. */
struct pd_code_space {
    bool kernel;
    uint64_t number; /* of the last pd_code_view() */
    struct pd_maps_view maps;
    struct pd_map64 by_ip; /* place in `nodes` */
    PD_VEC(struct pd_code_node *) nodes;
    struct pd_arena arena;
    size_t pokes;   /* how many changes of the kernel's code hold */
    uint64_t stamp; /* names the state of the kernel's maps */
    uint64_t generation;
    /* The map of the last node: most are in the same. */
    const struct pd_map *map;
    struct pd_code_object *object; /* NULL: cannot be read */
};

/* For how long the view that was given last is still right. */
struct recent {
    struct pd_code_view *view; /* NULL: none */
    const struct pd_thread *thread;
    enum pd_code_machine machine;
    uint64_t from, until; /* numbers */
    size_t pokes;
};

/* The kernel of a guest. */
struct guest {
    const struct pd_symbols *symbols;
    struct pd_code *code;
    struct pd_code_reader *reader;
};

struct pd_code_reader {
    struct pd_code *code;
    PD_VEC(struct guest) guests;
    struct pd_map64 by_stamp; /* user stamp * 2, kernel stamp * 2 + 1 -> place in `spaces` */
    PD_VEC(struct pd_code_space *) spaces;
    struct pd_map64 by_stamps; /* of both stamps, a hash -> place in `views` */
    PD_VEC(struct pd_code_view *) views;
    struct pd_code_space nothing;
    struct recent recent;
    size_t nodes;
};

/* ---- nodes ---- */

static const struct pd_map *map_in(const struct pd_code_view *view,
                                   const struct pd_code_space *space, uint64_t ip)
{
    if (space->kernel)
        return pd_symbols_kernel_map(view->reader->code->symbols, space->number, ip);
    return space->maps.version ? pd_maps_view_find(&space->maps, ip) : NULL;
}

PD_INLINE struct pd_code_space *space_of(const struct pd_code_view *view, uint64_t ip)
{
    return ip >= view->kernel_start ? view->kernel : view->user;
}

/* Finds what is behind the map; false: it cannot be read. */
static bool take_map(const struct pd_code_view *view, struct pd_code_space *space,
                     const struct pd_map *map)
{
    if (space->map != map) {
        struct pd_code *code = view->reader->code;
        const struct pd_image *image = pd_symbols_image(code->symbols, map);
        space->object = image ? pd_code_object_of(code, image) : NULL;
        space->map = map;
    }
    return space->object != NULL;
}

/* A run in which bytes were patched, at whatever time: decoded for this node only. */
static const struct pd_code_facts *private_facts(struct pd_code *code, struct pd_code_space *space,
                                                 uint64_t offset, uint64_t ip,
                                                 const uint8_t **bytes)
{
    const struct pd_image *image = space->object->image;
    size_t size = PD_MIN(image->size - (size_t)offset, (size_t)PRIVATE_BYTES);
    uint8_t patched[PRIVATE_BYTES], lengths[PD_CODE_RUN];
    struct pd_code_facts found;

    memcpy(patched, image->data + offset, size);
    pd_code_pokes_apply(&code->pokes, space->pokes, ip, patched, size);
    pd_code_decode(patched, size, image->is_64_bit, lengths, &found);
    if (!found.insns)
        return NULL;
    struct pd_code_facts *facts = pd_arena_alloc(&space->arena,
                                                 sizeof *facts + found.size + found.insns);
    if (!facts)
        return NULL;
    uint8_t *copy = (uint8_t *)(facts + 1);
    *facts = found;
    *bytes = memcpy(copy, patched, found.size);
    facts->lengths = memcpy(copy + found.size, lengths, found.insns);
    return facts;
}

/* perf ends a run where its map ends, though the last instruction may lie across. */
static void cut_at_map_end(struct pd_code_node *node, uint64_t room)
{
    uint64_t at = 0;
    uint32_t insns = 0;

    while (insns < node->insns && at < room)
        at += node->lengths[insns++];
    if (insns == node->insns)
        return;
    node->insns = insns;
    node->op = PD_INSN_OTHER;
    node->branch = PD_BRANCH_NONE;
    node->length = node->lengths[insns - 1];
    node->next_ip = node->ip + at;
    node->last_ip = node->next_ip - node->length;
    node->target = 0;
    node->emulated_ptwrite = false;
}

void pd_code_node_fill(struct pd_code_node *node, const struct pd_code_facts *facts, uint64_t ip)
{
    node->ip = ip;
    node->insns = facts->insns;
    node->lengths = facts->lengths;
    node->op = facts->op;
    node->branch = facts->branch;
    node->length = facts->lengths[facts->insns - 1];
    node->next_ip = ip + facts->size;
    node->last_ip = node->next_ip - node->length;
    node->emulated_ptwrite = facts->emulated_ptwrite;
    if (facts->branch == PD_BRANCH_CONDITIONAL || facts->branch == PD_BRANCH_UNCONDITIONAL)
        node->target = node->next_ip + (uint64_t)(int64_t)facts->rel;
}

static struct pd_code_node *make_node(struct pd_code_view *view, struct pd_code_space *space,
                                      uint64_t ip, enum pd_code_error *error)
{
    struct pd_code *code = view->reader->code;
    const struct pd_map *map = map_in(view, space, ip);

    view->failed_map = map;
    *error = PD_CODE_NO_MAP;
    if (!map)
        return NULL;
    *error = PD_CODE_UNREADABLE;
    if (!take_map(view, space, map))
        return NULL;
    *error = PD_CODE_UNDECODABLE;
    uint64_t offset = pd_symbols_address(code->symbols, map, ip);
    const struct pd_image *image = space->object->image;
    if (offset >= image->size)
        return NULL;
    const uint8_t *bytes = image->data + offset;
    const struct pd_code_facts *facts = pd_code_object_at(space->object, offset);
    if (space->kernel &&
        pd_code_pokes_touch(&code->pokes, ip, facts ? facts->size : PD_INSN_BUFFER))
        facts = private_facts(code, space, offset, ip, &bytes);
    if (!facts)
        return NULL;
    *error = PD_CODE_NO_MEMORY;
    struct pd_code_node *node = pd_arena_zalloc(&space->arena, sizeof *node);
    if (!node || !pd_vec_reserve(&space->nodes, space->nodes.count + 1) ||
        !pd_map64_set(&space->by_ip, ip, (uint32_t)space->nodes.count))
        return NULL;
    pd_code_node_fill(node, facts, ip);
    node->map = map;
    if (map->end - ip < facts->size)
        cut_at_map_end(node, map->end - ip);
    node->code = bytes;
    node->space = space;
    node->is_64_bit = image->is_64_bit;
    space->nodes.data[space->nodes.count++] = node;
    view->reader->nodes++;
    *error = PD_CODE_OK;
    return node;
}

bool pd_code_has_kernel(const struct pd_code_view *view)
{
    return pd_symbols_has_kernel(view->reader->code->symbols);
}

struct pd_code_node *pd_code_at(struct pd_code_view *view, uint64_t ip, enum pd_code_error *error)
{
    struct pd_code_space *space = space_of(view, ip);
    uint32_t at = pd_map64_get(&space->by_ip, ip);

    if (at != PD_MAP64_NONE && !space->nodes.data[at]->dead) {
        *error = PD_CODE_OK;
        return space->nodes.data[at];
    }
    return make_node(view, space, ip, error);
}

struct pd_code_node *pd_code_link(struct pd_code_view *view, struct pd_code_node *node, bool taken,
                                  enum pd_code_error *error)
{
    struct pd_code_node *next = pd_code_at(view, taken ? node->target : node->next_ip, error);

    /* User space of other processes may lie beside the same kernel. */
    if (next && next->space == node->space && !node->dead)
        *(taken ? &node->taken : &node->fall) = next;
    return next;
}

const struct pd_map *pd_code_map(struct pd_code_view *view, uint64_t ip)
{
    return map_in(view, space_of(view, ip), ip);
}

bool pd_code_place(struct pd_code_view *view, uint64_t ip, struct pd_code_place *out)
{
    struct pd_code_space *space = space_of(view, ip);
    const struct pd_map *map = map_in(view, space, ip);

    if (!map || !take_map(view, space, map))
        return false;
    *out = (struct pd_code_place){ space->object->image,
                                   pd_symbols_address(view->reader->code->symbols, map, ip),
                                   space->object->image->size };
    return true;
}

size_t pd_code_read(struct pd_code_view *view, uint64_t ip, uint8_t *bytes, size_t size,
                    bool *is_64_bit)
{
    struct pd_code *code = view->reader->code;
    struct pd_code_space *space = space_of(view, ip);
    const struct pd_map *map = map_in(view, space, ip);

    if (!map || !take_map(view, space, map))
        return 0;
    const struct pd_image *image = space->object->image;
    uint64_t offset = pd_symbols_address(code->symbols, map, ip);
    if (offset >= image->size)
        return 0;
    size = PD_MIN(image->size - (size_t)offset, size);
    memcpy(bytes, image->data + offset, size);
    if (space->kernel)
        pd_code_pokes_apply(&code->pokes, space->pokes, ip, bytes, size);
    *is_64_bit = image->is_64_bit;
    return size;
}

/* ---- patches ---- */

/* Nodes that hold patched bytes die; nothing leads to them any more. */
static void change_pokes(struct pd_code *code, struct pd_code_space *space, size_t count)
{
    size_t first = PD_MIN(count, space->pokes), last = PD_MAX(count, space->pokes);
    bool died = false;

    for (size_t i = first; i < last; i++) {
        struct pd_code_poke poke = pd_code_pokes_get(&code->pokes, i);
        for (size_t n = 0; n < space->nodes.count; n++) {
            struct pd_code_node *node = space->nodes.data[n];
            /* An instruction may now be longer than what was there. */
            bool holds = node->ip < poke.addr + poke.size &&
                         poke.addr < node->next_ip + PD_INSN_BUFFER;
            died |= holds && !node->dead;
            node->dead |= holds;
        }
    }
    space->pokes = count;
    if (!died)
        return;
    space->generation++;
    for (size_t n = 0; n < space->nodes.count; n++) {
        struct pd_code_node *node = space->nodes.data[n];
        if (node->taken && node->taken->dead)
            node->taken = NULL;
        if (node->fall && node->fall->dead)
            node->fall = NULL;
    }
}

/* ---- views ---- */

static void free_space(struct pd_code_space *space)
{
    pd_map64_free(&space->by_ip);
    pd_vec_free(&space->nodes);
    pd_arena_free(&space->arena);
}

static struct pd_code_space *space_at(struct pd_code_reader *reader, uint64_t stamp, bool kernel)
{
    uint64_t key = stamp * 2 + kernel;
    uint32_t at = pd_map64_get(&reader->by_stamp, key);

    if (at != PD_MAP64_NONE)
        return reader->spaces.data[at];
    struct pd_code_space *space = pd_memory_noted(calloc(1, sizeof *space));
    if (!space || !pd_vec_reserve(&reader->spaces, reader->spaces.count + 1) ||
        !pd_map64_set(&reader->by_stamp, key, (uint32_t)reader->spaces.count)) {
        free(space);
        return NULL;
    }
    space->kernel = kernel;
    reader->spaces.data[reader->spaces.count++] = space;
    reader->nodes += SPACE_NODES;
    return space;
}

static struct pd_code_view *view_of(struct pd_code_reader *reader, struct pd_code_space *user,
                                    struct pd_code_space *kernel)
{
    uint64_t key = (uint64_t)(uintptr_t)user * UINT64_C(0x9e3779b97f4a7c15) ^
                   (uint64_t)(uintptr_t)kernel;
    uint32_t at = pd_map64_get(&reader->by_stamps, key);

    if (at != PD_MAP64_NONE && reader->views.data[at]->user == user &&
        reader->views.data[at]->kernel == kernel)
        return reader->views.data[at];
    struct pd_code_view *view = pd_memory_noted(calloc(1, sizeof *view));
    if (!view || !pd_vec_reserve(&reader->views, reader->views.count + 1) ||
        !pd_map64_set(&reader->by_stamps, key, (uint32_t)reader->views.count)) {
        free(view);
        return NULL;
    }
    view->reader = reader;
    view->user = user;
    view->kernel = kernel;
    reader->views.data[reader->views.count++] = view;
    return view;
}

static struct pd_code_space *user_space(struct pd_code_reader *reader,
                                        const struct pd_thread *thread, uint64_t number,
                                        uint64_t settled, struct recent *recent)
{
    struct pd_maps_view maps;

    if (!thread)
        return &reader->nothing;
    pd_thread_maps_view(thread, number, settled, &maps);
    recent->from = PD_MAX(recent->from, maps.from);
    recent->until = PD_MIN(recent->until, maps.until);
    struct pd_code_space *space = space_at(reader, maps.stamp, false);
    if (space)
        space->maps = maps;
    return space;
}

static struct pd_code_space *kernel_space(struct pd_code_reader *reader, uint64_t number,
                                          uint64_t settled, struct recent *recent)
{
    struct pd_maps_view maps;
    struct pd_code *code = reader->code;

    pd_timeline_kernel_view(pd_symbols_timeline(code->symbols), number, settled, &maps);
    recent->from = PD_MAX(recent->from, maps.from);
    recent->until = PD_MIN(recent->until, maps.until);
    struct pd_code_space *space = space_at(reader, maps.stamp, true);
    if (!space)
        return NULL;
    space->number = number;
    space->stamp = maps.stamp;
    size_t count = pd_code_pokes_at(&code->pokes, number);
    if (count != space->pokes)
        change_pokes(code, space, count);
    if (count)
        recent->from = PD_MAX(recent->from, pd_code_pokes_get(&code->pokes, count - 1).number);
    if (count < recent->pokes)
        recent->until = PD_MIN(recent->until, pd_code_pokes_get(&code->pokes, count).number);
    return space;
}

static PD_NOINLINE struct pd_code_view *find_view(struct pd_code_reader *reader,
                                                  const struct pd_thread *thread, uint64_t number,
                                                  enum pd_code_machine machine)
{
    struct pd_code *code = reader->code;
    struct recent recent = { .thread = thread,
                             .machine = machine,
                             .until = UINT64_MAX,
                             .pokes = atomic_load_explicit(&code->pokes.count,
                                                           memory_order_acquire) };
    uint64_t settled = pd_timeline_settled(pd_symbols_timeline(code->symbols));
    struct pd_code_space *user = user_space(reader, thread, number, settled, &recent);
    struct pd_code_space *kernel = machine == PD_CODE_HOST
                                       ? kernel_space(reader, number, settled, &recent)
                                       : &reader->nothing;

    recent.view = user && kernel ? view_of(reader, user, kernel) : NULL;
    if (recent.view) {
        recent.view->kernel_start = pd_symbols_kernel_start(code->symbols, number);
        recent.view->user_stamp = user->maps.stamp;
        recent.view->kernel_stamp = kernel->stamp;
        recent.view->pokes = kernel->pokes;
        recent.view->generation = kernel->generation;
    }
    reader->recent = recent;
    return recent.view;
}

/* NULL without memory. */
static PD_NOINLINE struct pd_code_reader *guest_reader(struct pd_code_reader *reader,
                                                       const struct pd_thread *thread)
{
    struct pd_symbols *symbols = pd_timeline_symbols(thread->timeline);
    for (size_t i = 0; i < reader->guests.count; i++)
        if (reader->guests.data[i].symbols == symbols)
            return reader->guests.data[i].reader;
    struct guest guest = { .symbols = symbols, .code = pd_code_new(symbols) };
    guest.reader = guest.code ? pd_code_reader_new(guest.code) : NULL;
    if (guest.reader && pd_vec_push(&reader->guests, guest))
        return guest.reader;
    pd_code_reader_free(guest.reader);
    pd_code_free(guest.code);
    return NULL;
}

struct pd_code_view *pd_code_view(struct pd_code_reader *reader, const struct pd_thread *thread,
                                  uint64_t number, enum pd_code_machine machine)
{
    if (PD_UNLIKELY(machine == PD_CODE_GUEST)) {
        reader = guest_reader(reader, thread);
        if (!reader)
            return NULL;
        thread = NULL;
        machine = PD_CODE_HOST;
    }
    const struct recent *recent = &reader->recent;

    if (PD_LIKELY(recent->view && recent->thread == thread && recent->machine == machine &&
                  number >= recent->from && number < recent->until &&
                  recent->pokes ==
                      atomic_load_explicit(&reader->code->pokes.count, memory_order_acquire)))
        return recent->view;
    return find_view(reader, thread, number, machine);
}

/* ---- life ---- */

static void forget(struct pd_code_reader *reader)
{
    for (size_t i = 0; i < reader->spaces.count; i++) {
        free_space(reader->spaces.data[i]);
        free(reader->spaces.data[i]);
    }
    for (size_t i = 0; i < reader->views.count; i++)
        free(reader->views.data[i]);
    pd_vec_free(&reader->spaces);
    pd_vec_free(&reader->views);
    pd_map64_free(&reader->by_stamp);
    pd_map64_free(&reader->by_stamps);
    reader->recent = (struct recent){ 0 };
    reader->nodes = 0;
}

struct pd_code_reader *pd_code_reader_new(struct pd_code *code)
{
    struct pd_code_reader *reader = calloc(1, sizeof *reader);

    if (reader)
        reader->code = code;
    return reader;
}

void pd_code_reader_free(struct pd_code_reader *reader)
{
    if (!reader)
        return;
    for (size_t i = 0; i < reader->guests.count; i++) {
        pd_code_reader_free(reader->guests.data[i].reader); /* has no guests itself */
        pd_code_free(reader->guests.data[i].code);
    }
    pd_vec_free(&reader->guests);
    forget(reader);
    free_space(&reader->nothing);
    free(reader);
}

bool pd_code_reader_trim(struct pd_code_reader *reader)
{
    for (size_t i = 0; i < reader->guests.count; i++)
        pd_code_reader_trim(reader->guests.data[i].reader);
    if (reader->nodes <= NODE_LIMIT)
        return false;
    forget(reader);
    return true;
}
