/* SPDX-License-Identifier: MIT */
/* A place in the code and the bits of a TNT -> where the walk comes to, found out once. */
#include "itrace/intel_pt/fast/run.h"

enum { MAX_DIRECT = 16 };

struct finder {
    struct pd_code_node *at;
    struct walk_run run, kept; /* so far; as of the last outcome */
    unsigned left, direct;
};

static void use(struct finder *f, bool step)
{
    if (!f->run.used && step)
        f->run.flags |= RUN_TAKEN;
    f->run.flags |= step ? RUN_STEP : RUN_NOT_TAKEN;
    f->run.used++;
    f->left--;
    f->direct = 0;
}

enum found { FOUND_MORE, FOUND_END, FOUND_CUT, FOUND_UNLINKED };

static enum found pass(struct finder *f, struct pd_code_node *next)
{
    if (!next)
        return FOUND_UNLINKED;
    f->run.insns += f->at->insns;
    f->run.last = f->at;
    f->run.end = f->at = next;
    return FOUND_MORE;
}

/* A branch leads to the next node. */
static enum found branch_to(const struct pd_pt_decoder *d, struct finder *f,
                            struct pd_code_node *next)
{
    return next && walk_is_place(d, next->ip) ? FOUND_CUT : pass(f, next);
}

static enum found find_direct(const struct pd_pt_decoder *d, struct finder *f)
{
    struct pd_code_node *at = f->at;
    bool call = at->op == PD_INSN_CALL && at->target != at->next_ip;
    if (at->emulated_ptwrite || ++f->direct > MAX_DIRECT ||
        (call && f->run.call_count == PD_LENGTH(f->run.calls)))
        return FOUND_CUT;
    enum found found = branch_to(d, f, at->taken);
    if (found != FOUND_MORE)
        return found;
    f->run.flags |= f->run.used ? RUN_STEP : RUN_DIRECT;
    if (call)
        f->run.calls[f->run.call_count++] = at;
    return FOUND_MORE;
}

static enum found find_one(const struct pd_pt_decoder *d, struct finder *f, unsigned bits)
{
    struct pd_code_node *at = f->at;
    enum found found;
    bool taken = f->left && (bits >> (f->left - 1) & 1);
    switch (at->branch) {
    case PD_BRANCH_NONE: return pass(f, at->fall);
    case PD_BRANCH_UNCONDITIONAL: return find_direct(d, f);
    case PD_BRANCH_CONDITIONAL:
        if (!f->left)
            return FOUND_END;
        found = taken ? branch_to(d, f, at->taken) : pass(f, at->fall);
        break;
    default:
        if (at->op != PD_INSN_RET || !f->run.call_count || !taken || !d->config.return_compression)
            return FOUND_END;
        found = branch_to(d, f, f->run.calls[f->run.call_count - 1]->fall);
        if (found == FOUND_MORE)
            f->run.call_count--;
        break;
    }
    if (found != FOUND_MORE)
        return found;
    use(f, taken);
    f->kept = f->run;
    return f->left ? FOUND_MORE : FOUND_END;
}

struct walk_run *walk_find_run(struct pd_pt_decoder *d, struct pd_code_node *node, unsigned bits)
{
    struct finder f = { .at = node, .run = { .node = node, .end = node, .bits = (uint8_t)bits } };
    f.left = 31 - (unsigned)__builtin_clz(bits);
    enum found found;
    unsigned steps = 0;
    do {
        found = ++steps > 256 ? FOUND_CUT : find_one(d, &f, bits);
    } while (found == FOUND_MORE);
    if (found == FOUND_UNLINKED || (found == FOUND_CUT && !f.kept.used))
        return NULL;
    struct walk_run *slot = walk_run_slot(d, node, bits);
    *slot = found == FOUND_CUT ? f.kept : f.run;
    slot->end_insns = slot->end->insns;
    return slot;
}
