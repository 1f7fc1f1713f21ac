/* SPDX-License-Identifier: MIT */
/* Tables of images: look-ups in the file as it lies, symbols made when they are first found. */
#include "object/symtab/table.h"
#include "base/memory.h"
#include "object/symtab/rbtree.h"

enum { DEEPEST = 128 /* no tree of 2^32 nodes is deeper, unless it is forged */ };

/* ---- from a built table ---- */

struct links {
    uint32_t *left, *right;
    uint32_t root;
};

/* perf's tree without what has left it, by index in the table + 1. */
static bool take_links(const struct pd_symtab *table, struct links *links)
{
    const struct pd_symtab_tree *tree = pd_symtab_tree(table);
    const uint32_t *final = tree ? tree->final : NULL;

    links->left = calloc(table->count, sizeof *links->left);
    links->right = calloc(table->count, sizeof *links->right);
    if (!tree || !links->left || !links->right)
        return false;
    for (size_t i = 1; i <= table->history.inserted; i++) {
        const struct pd_rb_node *node = &tree->nodes[i];
        if (final[i] == PD_SYMBOL_ERASED)
            continue;
        links->left[final[i]] = node->left ? final[node->left] + 1 : 0;
        links->right[final[i]] = node->right ? final[node->right] + 1 : 0;
    }
    links->root = tree->root ? final[tree->root] + 1 : 0;
    return true;
}

void pd_symtab_save(const struct pd_symtab *table, const struct pd_symbol_image_key *key,
                    const uint64_t facts[PD_SYMBOL_IMAGE_FACTS])
{
    struct links links = { 0 };
    uint8_t *states = malloc(PD_MAX(table->count, (size_t)1));

    if (states && !table->image && (!table->reach || take_links(table, &links))) {
        for (size_t i = 0; i < table->count; i++)
            states[i] = atomic_load_explicit(&table->state[i], memory_order_relaxed);
        struct pd_symbol_image_source source = { .symbols = table->symbols,
                                                 .states = states,
                                                 .count = table->count,
                                                 .reach = table->reach,
                                                 .left = links.left,
                                                 .right = links.right,
                                                 .root = links.root };
        memcpy(source.facts, facts, sizeof source.facts);
        pd_symbol_image_write(key, &source);
    }
    free(links.left);
    free(links.right);
    free(states);
}

/* ---- tables of images ---- */

/* Checks and fills in what the caller left; false: they do not fit. */
static bool place_pieces(struct pd_symtab *table)
{
    const struct pd_symbol_image *image = table->image;
    uint64_t reach = 0, before = 0;

    for (size_t i = 0; i < table->piece_count; i++) {
        struct pd_symtab_piece *piece = &table->pieces[i];
        if (!piece->count || !pd_range_ok(piece->first, piece->count, image->count))
            return false;
        const size_t last = (size_t)piece->first + piece->count - 1;
        const uint64_t start = image->starts[piece->first] - piece->shift;
        const uint64_t end = image->ends[last] - piece->shift;
        if (end < start || image->ends[last] < image->starts[piece->first] || (i && start < reach))
            return false;
        piece->start = start;
        piece->before = (uint32_t)before;
        before += piece->count;
        reach = end;
    }
    table->count = before;
    return before <= image->count;
}

static struct pd_symtab *new_table(struct pd_symbol_image *image, enum pd_demangle demangle,
                                   const struct pd_symtab_piece *pieces, size_t count)
{
    struct pd_symtab *table = pd_memory_noted(calloc(1, sizeof *table));

    if (!table)
        return NULL;
    pthread_mutex_init(&table->lock, NULL);
    table->demangle = demangle;
    table->image = image;
    atomic_fetch_add_explicit(&image->users, 1, memory_order_relaxed);
    table->pieces = pd_memory_noted(malloc((count + 1) * sizeof *pieces));
    if (table->pieces) {
        memcpy(table->pieces, pieces, count * sizeof *pieces);
        table->piece_count = count;
        return table;
    }
    pd_symtab_free(table);
    return NULL;
}

/* Room for pages of symbols. Frees the table where there is no memory. */
static struct pd_symtab *with_room(struct pd_symtab *table)
{
    table->pages = pd_memory_noted(calloc(table->count / PD_SYMTAB_PAGE + 1, sizeof *table->pages));
    if (table->pages)
        return table;
    pd_symtab_free(table);
    return NULL;
}

struct pd_symtab *pd_symtab_map_pieces(struct pd_symbol_image *image, enum pd_demangle demangle,
                                       const struct pd_symtab_piece *pieces, size_t count,
                                       bool *fits)
{
    struct pd_symtab *table = new_table(image, demangle, pieces, count);

    *fits = !table || place_pieces(table);
    if (table && *fits)
        return with_room(table);
    pd_symtab_free(table);
    return NULL;
}

struct pd_symtab *pd_symtab_map(struct pd_symbol_image *image, enum pd_demangle demangle)
{
    const struct pd_symtab_piece all = { .count = image->count,
                                         .start = image->count ? image->starts[0] : 0 };
    struct pd_symtab *table = new_table(image, demangle, &all, image->count ? 1 : 0);

    if (!table)
        return NULL;
    table->count = image->count;
    return with_room(table);
}

/* Under the lock. NULL: no memory. */
static const struct pd_symbol *make(struct pd_symtab *table, const struct pd_symtab_piece *piece,
                                    size_t index)
{
    struct pd_symbol *symbol = pd_arena_alloc(&table->arena, sizeof *symbol);
    if (!symbol)
        return NULL;
    const enum pd_name_state state = pd_symbol_image_symbol(
        table->image, piece->first + (index - piece->before), symbol);

    symbol->start -= piece->shift;
    symbol->end -= piece->shift;
    symbol->index = (uint32_t)index;
    if (state != PD_NAME_READY)
        pd_symtab_make_name(table, symbol, state);
    return symbol;
}

static const struct pd_symbol *make_once(struct pd_symtab *table,
                                         const struct pd_symtab_piece *piece, size_t index)
{
    struct pd_symtab_page *_Atomic *place = &table->pages[index / PD_SYMTAB_PAGE];
    const struct pd_symbol *symbol = NULL;

    pthread_mutex_lock(&table->lock);
    struct pd_symtab_page *page = atomic_load_explicit(place, memory_order_relaxed);
    if (!page) {
        page = pd_arena_zalloc(&table->arena, sizeof *page);
        atomic_store_explicit(place, page, memory_order_release);
    }
    if (page) {
        const struct pd_symbol *_Atomic *at = &page->symbols[index % PD_SYMTAB_PAGE];
        symbol = atomic_load_explicit(at, memory_order_relaxed);
        if (!symbol) {
            symbol = make(table, piece, index);
            atomic_store_explicit(at, symbol, memory_order_release);
        }
    }
    pthread_mutex_unlock(&table->lock);
    return symbol;
}

/* NULL: no memory, which is noted. */
static const struct pd_symbol *made(const struct pd_symtab *shared,
                                    const struct pd_symtab_piece *piece, size_t index)
{
    /* const for callers: what changes here changes once, behind the lock */
    struct pd_symtab *table = (struct pd_symtab *)(uintptr_t)shared;
    struct pd_symtab_page *page = atomic_load_explicit(&table->pages[index / PD_SYMTAB_PAGE],
                                                       memory_order_acquire);
    const struct pd_symbol *symbol = page ? atomic_load_explicit(
                                                &page->symbols[index % PD_SYMTAB_PAGE],
                                                memory_order_acquire)
                                          : NULL;

    return symbol ? symbol : make_once(table, piece, index);
}

const struct pd_symbol *pd_symtab_at_mapped(const struct pd_symtab *table, size_t index)
{
    static const struct pd_symbol nameless = { .name = "" }; /* for want of memory */

    for (size_t i = 0; index < table->count && i < table->piece_count; i++) {
        const struct pd_symtab_piece *piece = &table->pieces[i];
        if (index - piece->before < piece->count) {
            const struct pd_symbol *symbol = made(table, piece, index);
            return symbol ? symbol : &nameless;
        }
    }
    return NULL;
}

/* perf's descent, as in a built table. */
static const struct pd_symbol *descend(const struct pd_symtab *table,
                                       const struct pd_symtab_piece *piece, uint64_t address)
{
    const struct pd_symbol_image *image = table->image;
    uint32_t at = image->root;

    for (unsigned depth = 0; at && at <= image->count && depth < DEEPEST; depth++) {
        const uint64_t start = image->starts[at - 1], end = image->ends[at - 1];
        if (address < start)
            at = image->left[at - 1];
        else if (address > end || (address == end && end != start))
            at = image->right[at - 1];
        else
            return made(table, piece, at - 1);
    }
    return NULL;
}

const struct pd_symbol *pd_symtab_find_mapped(const struct pd_symtab *table, uint64_t address)
{
    const struct pd_symbol_image *image = table->image;
    size_t upto = pd_upto(table->pieces, table->piece_count, start, address);

    if (!upto)
        return NULL;
    const struct pd_symtab_piece *piece = &table->pieces[upto - 1];
    address += piece->shift;
    upto = pd_symbol_image_upto(image, piece->first, piece->count, address);
    if (!upto)
        return NULL;
    const size_t index = piece->first + upto - 1;
    if (image->reach && image->reach[index] > address)
        return descend(table, piece, address);
    if (pd_symbol_is_before(image->starts[index], image->ends[index], address))
        return NULL;
    return made(table, piece, piece->before + upto - 1);
}

struct pd_symbol_span pd_symtab_find_span_mapped(const struct pd_symtab *table, uint64_t address)
{
    const struct pd_symbol_image *image = table->image;
    const size_t pieces = pd_upto(table->pieces, table->piece_count, start, address);
    uint64_t next = pieces < table->piece_count ? table->pieces[pieces].start : UINT64_MAX;
    if (!pieces)
        return (struct pd_symbol_span){ NULL, 0, next };
    const struct pd_symtab_piece *piece = &table->pieces[pieces - 1];
    const size_t upto = pd_symbol_image_upto(image, piece->first, piece->count,
                                             address + piece->shift);
    const size_t index = piece->first + upto - 1;
    if (!upto || (image->reach && image->reach[index] > image->starts[index]))
        return (struct pd_symbol_span){ pd_symtab_find_mapped(table, address), address, 1 };
    if (upto < piece->count)
        next = image->starts[index + 1] - piece->shift;
    const uint64_t start = image->starts[index] - piece->shift;
    const uint64_t end = image->ends[index] - piece->shift;
    struct pd_symbol_span span = pd_symbol_span_at(start, end, next, address);
    if (!pd_symbol_is_before(start, end, address))
        span.symbol = made(table, piece, piece->before + upto - 1);
    return span;
}

bool pd_symtab_may_find_mapped(const struct pd_symtab *table, uint64_t first, uint64_t last,
                               const char *name)
{
    const struct pd_symbol_image *image = table->image;
    const size_t pieces = pd_upto(table->pieces, table->piece_count, start, last);
    if (!pieces)
        return false;
    const struct pd_symtab_piece *piece = &table->pieces[pieces - 1];
    if (pieces > 1 && piece->start > first)
        return true; /* it may be of the piece before: of no use to look closer */
    first += piece->shift;
    size_t upto = pd_symbol_image_upto(image, piece->first, piece->count, last + piece->shift);
    for (unsigned step = 0; step < PD_SYMTAB_MAY_STEPS && upto; step++) {
        const size_t index = piece->first + --upto;
        const uint64_t start = image->starts[index];
        if (pd_symbol_reach(start, image->ends[index]) > first) {
            struct pd_symbol raw;
            const struct pd_symbol *symbol = &raw;
            if (pd_symbol_image_symbol(image, index, &raw) != PD_NAME_READY)
                symbol = made(table, piece, piece->before + upto);
            if (!symbol || !strcmp(symbol->name, name))
                return true;
        }
        if (start <= first && !(image->reach && image->reach[index] > first))
            return false;
    }
    return upto != 0;
}
