/* SPDX-License-Identifier: MIT */
/* What TEXT_POKE records wrote into the kernel, by address and delivery number. */
#include "format/structs.h"
#include "itrace/code/object.h"

enum { LINE = 64 };

void pd_code_pokes_init(struct pd_code_pokes *pokes)
{
    pthread_mutex_init(&pokes->lock, NULL);
}

void pd_code_pokes_free(struct pd_code_pokes *pokes)
{
    pd_vec_free(&pokes->list);
    pd_vec_free(&pokes->links);
    pd_map64_free(&pokes->lines);
    pd_arena_free(&pokes->arena);
    pthread_mutex_destroy(&pokes->lock);
}

static bool add_lines(struct pd_code_pokes *pokes, const struct pd_code_poke *poke)
{
    uint32_t index = (uint32_t)pokes->list.count;
    uint64_t last = (poke->addr + poke->size - 1) / LINE;

    for (uint64_t line = poke->addr / LINE; line <= last; line++) {
        struct pd_code_poke_link link = { index, pd_map64_get(&pokes->lines, line) };
        if (!pd_vec_push(&pokes->links, link) ||
            !pd_map64_set(&pokes->lines, line, (uint32_t)pokes->links.count - 1))
            return false;
    }
    return true;
}

bool pd_code_pokes_add(struct pd_code_pokes *pokes, uint64_t number, uint64_t addr,
                       const uint8_t *bytes, uint32_t size)
{
    uint64_t end;

    if (!size || pd_add_overflows(addr, size, &end))
        return true;
    pthread_mutex_lock(&pokes->lock);
    struct pd_code_poke poke = { .number = number,
                                 .addr = addr,
                                 .size = size,
                                 .bytes = (uint8_t *)pd_arena_copy(&pokes->arena, bytes, size) };
    bool ok = poke.bytes && pokes->list.count < UINT32_MAX / 2 &&
              pd_vec_reserve(&pokes->list, pokes->list.count + 1) && add_lines(pokes, &poke);
    if (ok) {
        pokes->list.data[pokes->list.count++] = poke;
        atomic_store_explicit(&pokes->count, pokes->list.count, memory_order_release);
    }
    pthread_mutex_unlock(&pokes->lock);
    return ok;
}

size_t pd_code_pokes_at(struct pd_code_pokes *pokes, uint64_t number)
{
    if (!atomic_load_explicit(&pokes->count, memory_order_acquire))
        return 0;
    pthread_mutex_lock(&pokes->lock);
    size_t count = pd_upto(pokes->list.data, pokes->list.count, number, number);
    pthread_mutex_unlock(&pokes->lock);
    return count;
}

struct pd_code_poke pd_code_pokes_get(struct pd_code_pokes *pokes, size_t index)
{
    pthread_mutex_lock(&pokes->lock);
    struct pd_code_poke poke = pokes->list.data[index];
    pthread_mutex_unlock(&pokes->lock);
    return poke;
}

static bool overlap(const struct pd_code_poke *poke, uint64_t addr, uint64_t size)
{
    return addr < poke->addr + poke->size && poke->addr < addr + size;
}

bool pd_code_pokes_touch(struct pd_code_pokes *pokes, uint64_t addr, uint64_t size)
{
    bool found = false;

    if (!size || !atomic_load_explicit(&pokes->count, memory_order_acquire))
        return false;
    pthread_mutex_lock(&pokes->lock);
    for (uint64_t line = addr / LINE; !found && line <= (addr + size - 1) / LINE; line++)
        for (uint32_t at = pd_map64_get(&pokes->lines, line); !found && at != PD_MAP64_NONE;
             at = pokes->links.data[at].before)
            found = overlap(&pokes->list.data[pokes->links.data[at].poke], addr, size);
    pthread_mutex_unlock(&pokes->lock);
    return found;
}

/* Applies one line of patches, the newest first: each byte is written once. */
static void apply_line(const struct pd_code_pokes *pokes, size_t count, uint64_t addr,
                       uint8_t *bytes, size_t size)
{
    uint64_t written = 0;

    for (uint32_t at = pd_map64_get(&pokes->lines, addr / LINE); at != PD_MAP64_NONE;
         at = pokes->links.data[at].before) {
        const struct pd_code_poke *poke = &pokes->list.data[pokes->links.data[at].poke];
        if (pokes->links.data[at].poke >= count)
            continue;
        for (size_t i = 0; i < size; i++) {
            uint64_t offset = addr + i - poke->addr;
            if (offset >= poke->size || (written >> i & 1))
                continue;
            bytes[i] = poke->bytes[offset];
            written |= UINT64_C(1) << i;
        }
    }
}

void pd_code_pokes_apply(struct pd_code_pokes *pokes, size_t count, uint64_t addr, uint8_t *bytes,
                         size_t size)
{
    if (!count)
        return;
    pthread_mutex_lock(&pokes->lock);
    for (size_t done = 0; done < size;) {
        size_t room = LINE - (size_t)((addr + done) % LINE);
        size_t part = PD_MIN(room, size - done);
        apply_line(pokes, count, addr + done, bytes + done, part);
        done += part;
    }
    pthread_mutex_unlock(&pokes->lock);
}

perfdata_status pd_code_poke(struct pd_code *code, const struct pd_event *event,
                             const uint8_t *record, uint32_t size, bool swap, uint64_t number)
{
    struct pd_record_text_poke poke;

    if (pd_record_decode(event, record, size, swap, NULL, &poke, sizeof poke) < 0)
        return 0; /* a broken record patches nothing; who walks the recording counts it */
    return pd_code_pokes_add(&code->pokes, number, poke.addr, poke.new_bytes.data,
                             (uint32_t)poke.new_bytes.size)
               ? 0
               : PERFDATA_ERROR_MEMORY;
}
