/* SPDX-License-Identifier: MIT */
/* Code that the caller gives -> a view for the walk. */
#include "itrace/code/caller.h"
#include "itrace/code/object.h"

enum {
    READ = 1024,           /* bytes asked for at once: most runs are much shorter */
    MEMORY_MAX = 256 << 20 /* of nodes: what needs more is no program */
};

void pd_code_caller_free(struct pd_code_caller *code)
{
    pd_arena_free(&code->arena);
    pd_map64_free(&code->by_ip);
    pd_vec_free(&code->nodes);
}

static struct pd_code_node *make_node(struct pd_code_caller *code, uint64_t ip,
                                      enum pd_code_error *error)
{
    uint8_t bytes[READ], lengths[PD_CODE_RUN];
    struct pd_code_facts facts;
    size_t size = code->read(code->data, ip, bytes, sizeof bytes);
    *error = PD_CODE_UNREADABLE;
    if (!size)
        return NULL;
    pd_code_decode(bytes, PD_MIN(size, sizeof bytes), code->is_64_bit, lengths, &facts);
    *error = PD_CODE_UNDECODABLE;
    if (!facts.insns)
        return NULL;
    *error = PD_CODE_NO_MEMORY;
    if (code->arena.total > MEMORY_MAX)
        return NULL;
    struct pd_code_node *node = pd_arena_zalloc(&code->arena,
                                                sizeof *node + facts.size + facts.insns);
    if (!node || !pd_vec_reserve(&code->nodes, code->nodes.count + 1) ||
        !pd_map64_set(&code->by_ip, ip, (uint32_t)code->nodes.count))
        return NULL;
    uint8_t *copy = (uint8_t *)(node + 1);
    node->code = memcpy(copy, bytes, facts.size);
    facts.lengths = memcpy(copy + facts.size, lengths, facts.insns);
    pd_code_node_fill(node, &facts, ip);
    node->is_64_bit = code->is_64_bit;
    code->nodes.data[code->nodes.count++] = node;
    *error = PD_CODE_OK;
    return node;
}

struct pd_code_node *pd_code_caller_at(struct pd_code_view *view, uint64_t ip,
                                       enum pd_code_error *error)
{
    struct pd_code_caller *code = (struct pd_code_caller *)view;
    uint32_t at = pd_map64_get(&code->by_ip, ip);
    if (at == PD_MAP64_NONE)
        return make_node(code, ip, error);
    *error = PD_CODE_OK;
    return code->nodes.data[at];
}

struct pd_code_node *pd_code_caller_link(struct pd_code_view *view, struct pd_code_node *node,
                                         bool taken, enum pd_code_error *error)
{
    struct pd_code_node *next = pd_code_caller_at(view, taken ? node->target : node->next_ip,
                                                  error);
    if (next)
        *(taken ? &node->taken : &node->fall) = next;
    return next;
}
