/* SPDX-License-Identifier: MIT */
/* Collecting symbols in perf's order and perf's fix-ups of them. */
#include "object/symtab/builder.h"
#include "base/memory.h"

#include "object/symtab/demangle.h"

#define POOL_SIZE (64 * 1024)
#define DEMANGLED_LIMIT ((size_t)128 << 20) /* bytes of names of equal places */
#define KERNEL_PAGE UINT64_C(4096)

struct pd_symtab_builder *pd_symtab_builder_new(enum pd_demangle demangle)
{
    struct pd_symtab_builder *builder = pd_memory_noted(calloc(1, sizeof *builder));

    if (builder)
        builder->demangle = demangle;
    return builder;
}

void pd_symtab_builder_free(struct pd_symtab_builder *builder)
{
    if (!builder)
        return;
    pd_vec_free(&builder->all);
    pd_vec_free(&builder->state);
    pd_vec_free(&builder->order);
    pd_vec_free(&builder->erased);
    pd_arena_free(&builder->arena);
    free(builder->text);
    free(builder);
}

/* Names stand side by side: an arena block each would waste more than they are long. Rooms
 * for them grow with the table: BPF programs have tables of one name. */
static char *copy_name(struct pd_symtab_builder *builder, const char *name, size_t length)
{
    if ((size_t)(builder->pool_end - builder->pool) < length + 1) {
        size_t grown = PD_MIN(builder->arena.total, (size_t)POOL_SIZE);
        size_t size = PD_MAX(length + 1, grown);
        char *room = pd_arena_alloc(&builder->arena, size);
        if (!room)
            return NULL;
        builder->pool = room;
        builder->pool_end = room + size;
    }
    char *copy = builder->pool;
    memcpy(copy, name, length);
    copy[length] = '\0';
    builder->pool += length + 1;
    return copy;
}

void pd_symtab_reserve(struct pd_symtab_builder *builder, size_t count)
{
    (void)(pd_vec_reserve(&builder->all, builder->all.count + count) &&
           pd_vec_reserve(&builder->state, builder->state.count + count));
}

static bool add(struct pd_symtab_builder *builder, struct pd_symbol symbol,
                enum pd_name_state state)
{
    /* Both or none: each symbol has its state. */
    return builder->all.count < UINT32_MAX - 1 &&
           pd_vec_reserve(&builder->state, builder->state.count + 1) &&
           pd_vec_push(&builder->all, symbol) && pd_vec_push(&builder->state, (uint8_t)state);
}

static enum pd_name_state new_state(const struct pd_symtab_builder *builder)
{
    return builder->demangle == PD_DEMANGLE_NONE ? PD_NAME_READY : PD_NAME_RAW;
}

bool pd_symtab_add_range(struct pd_symtab_builder *builder, uint64_t start, uint64_t end,
                         uint8_t binding, uint8_t type, const char *name, size_t name_length,
                         enum pd_name_state state)
{
    if (name_length >= UINT32_MAX)
        return false;
    const char *copy = copy_name(builder, name, name_length);
    return copy && add(builder,
                       (struct pd_symbol){ .start = start,
                                           .end = end,
                                           .name = copy,
                                           .name_length = (uint32_t)name_length,
                                           .binding = binding,
                                           .type = type },
                       state);
}

bool pd_symtab_add(struct pd_symtab_builder *builder, uint64_t start, uint64_t size,
                   uint8_t binding, uint8_t type, const char *name, size_t name_length)
{
    return pd_symtab_add_range(builder, start, start + size, binding, type, name, name_length,
                               new_state(builder));
}

bool pd_symtab_add_text(struct pd_symtab_builder *builder, uint64_t start, uint8_t binding,
                        uint8_t type, const char *name, size_t name_length)
{
    return name_length < UINT32_MAX && add(builder,
                                           (struct pd_symbol){ .start = start,
                                                               .end = start,
                                                               .name = name,
                                                               .name_length = (uint32_t)name_length,
                                                               .binding = binding,
                                                               .type = type },
                                           new_state(builder));
}

size_t pd_symtab_builder_memory(const struct pd_symtab_builder *builder)
{
    return builder->arena.total + builder->text_size +
           builder->all.count * (sizeof *builder->all.data + sizeof *builder->order.data + 1);
}

/* ---- order ---- */

struct key {
    uint64_t start;
    uint32_t index;
};

/* Stable, by bytes of the start; bytes that all share cost nothing. Returns where the result is. */
static struct key *radix_sort(struct key *keys, struct key *spare, size_t count)
{
    uint32_t histogram[8][256] = { { 0 } };

    for (size_t i = 0; i < count; i++)
        for (unsigned digit = 0; digit < 8; digit++)
            histogram[digit][keys[i].start >> (8 * digit) & 0xff]++;
    for (unsigned digit = 0; digit < 8; digit++) {
        uint32_t *slots = histogram[digit], sum = 0;
        if (slots[keys[0].start >> (8 * digit) & 0xff] == count)
            continue;
        for (unsigned value = 0; value < 256; value++) {
            uint32_t here = slots[value];
            slots[value] = sum;
            sum += here;
        }
        for (size_t i = 0; i < count; i++)
            spare[slots[keys[i].start >> (8 * digit) & 0xff]++] = keys[i];
        struct key *swap = keys;
        keys = spare;
        spare = swap;
    }
    return keys;
}

/* Makes room for what was added and lists it behind the rest; *in_order: there is nothing to
 * sort. */
static bool append_order(struct pd_symtab_builder *builder, bool *in_order)
{
    size_t old = builder->order.count, count = old + builder->all.count - builder->sorted;
    uint64_t last = 0;

    if (!pd_vec_reserve(&builder->order, count))
        return false;
    for (size_t i = old; i < count; i++)
        builder->order.data[i] = (uint32_t)(builder->sorted + i - old);
    *in_order = true;
    for (size_t i = 0; i < count && *in_order; i++) {
        uint64_t start = builder->all.data[builder->order.data[i]].start;
        *in_order = start >= last;
        last = start;
    }
    builder->order.count = count;
    builder->sorted = builder->all.count;
    builder->moved = false;
    return true;
}

bool pd_symtab_sort(struct pd_symtab_builder *builder)
{
    bool in_order;

    if (builder->sorted == builder->all.count && !builder->moved)
        return true;
    if (!append_order(builder, &in_order))
        return false;
    if (in_order)
        return true;
    size_t count = builder->order.count;
    struct key *keys = pd_memory_noted(malloc(2 * count * sizeof *keys));
    if (!keys)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint32_t index = builder->order.data[i];
        keys[i] = (struct key){ builder->all.data[index].start, index };
    }
    const struct key *sorted = radix_sort(keys, keys + count, count);
    for (size_t i = 0; i < count; i++)
        builder->order.data[i] = sorted[i].index;
    free(keys);
    return true;
}

bool pd_symtab_erase(struct pd_symtab_builder *builder, uint32_t index)
{
    return pd_vec_push(&builder->erased,
                       (struct pd_erasure){ index, (uint32_t)builder->all.count });
}

/* ---- fix-ups ---- */

static uint64_t round_up(uint64_t value)
{
    return (value + KERNEL_PAGE - 1) & ~(KERNEL_PAGE - 1);
}

/* As names of modules' symbols have it in kallsyms. */
static bool has_bracket(const struct pd_symbol *symbol)
{
    return memchr(symbol->name, '[', symbol->name_length) != NULL;
}

bool pd_symtab_fix_ends(struct pd_symtab_builder *builder, bool kallsyms)
{
    if (!pd_symtab_sort(builder))
        return false;
    size_t count = builder->order.count;
    size_t looked_at = SIZE_MAX; /* the symbol that was next, and whether it is a module's */
    bool was_module = false;
    for (size_t i = 0; i < count; i++) {
        struct pd_symbol *symbol = &builder->all.data[builder->order.data[i]];
        if (symbol->end != symbol->start)
            continue;
        if (i + 1 == count) {
            symbol->end = round_up(symbol->start) + KERNEL_PAGE;
            continue;
        }
        const struct pd_symbol *next = &builder->all.data[builder->order.data[i + 1]];
        bool of_module = kallsyms && (looked_at == i ? was_module : has_bracket(symbol));
        looked_at = i + 1;
        was_module = kallsyms && has_bracket(next);
        if (of_module != was_module)
            symbol->end = round_up(symbol->end + KERNEL_PAGE);
        else
            symbol->end = next->start;
    }
    return true;
}

static bool ready_name(struct pd_symtab_builder *builder, uint32_t index)
{
    struct pd_symbol *symbol = &builder->all.data[index];

    if (builder->state.data[index] != PD_NAME_RAW)
        return true; /* PLT entries come after the fix-ups */
    if (builder->demangled > DEMANGLED_LIMIT)
        return true; /* compared as they are; shown, those that are asked for, demangled */
    builder->state.data[index] = PD_NAME_READY;
    char *text = pd_demangle(symbol->name, builder->demangle == PD_DEMANGLE_VERBOSE);
    if (!text)
        return true;
    size_t length = strlen(text);
    const char *copy = copy_name(builder, text, length);
    builder->demangled += length;
    free(text);
    if (!copy)
        return false;
    symbol->name = copy;
    symbol->name_length = (uint32_t)length;
    return true;
}

/* > 0: the first is better, < 0: the second, 0: names decide. */
static int compare_bodies(const struct pd_symbol *a, const struct pd_symbol *b)
{
    bool a_empty = a->end == a->start, b_empty = b->end == b->start;
    if (a_empty != b_empty)
        return b_empty ? 1 : -1;
    bool a_weak = a->binding == PD_SYMBOL_WEAK, b_weak = b->binding == PD_SYMBOL_WEAK;
    if (a_weak != b_weak)
        return b_weak ? 1 : -1;
    bool a_global = a->binding == PD_SYMBOL_GLOBAL, b_global = b->binding == PD_SYMBOL_GLOBAL;
    if (a_global != b_global)
        return a_global ? 1 : -1;
    return 0;
}

static size_t leading_underscores(const char *name)
{
    return strspn(name, "_");
}

static bool first_name_is_better(const struct pd_symbol *a, const struct pd_symbol *b)
{
    size_t a_lead = leading_underscores(a->name), b_lead = leading_underscores(b->name);

    if (a_lead != b_lead)
        return a_lead < b_lead;
    if (a->name_length != b->name_length)
        return a->name_length > b->name_length;
    /* old kernels' aliases of system calls */
    return strncmp(a->name, "SyS", 3) != 0 && strncmp(a->name, "compat_SyS", 10) != 0;
}

bool pd_symtab_fix_duplicates(struct pd_symtab_builder *builder)
{
    if (!pd_symtab_sort(builder))
        return false;
    uint32_t *order = builder->order.data;
    size_t kept = 0;
    for (size_t i = 0; i < builder->order.count; i++) {
        uint32_t next = order[i];
        if (!kept || builder->all.data[order[kept - 1]].start != builder->all.data[next].start) {
            order[kept++] = next;
            continue;
        }
        uint32_t current = order[kept - 1];
        int body = compare_bodies(&builder->all.data[current], &builder->all.data[next]);
        bool first = body > 0;
        if (!body) {
            if (!ready_name(builder, current) || !ready_name(builder, next))
                return false;
            first = first_name_is_better(&builder->all.data[current], &builder->all.data[next]);
        }
        if (!first)
            order[kept - 1] = next;
        if (!pd_symtab_erase(builder, first ? next : current))
            return false;
    }
    builder->order.count = kept;
    return true;
}
