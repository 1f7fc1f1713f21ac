/* SPDX-License-Identifier: MIT */
/* Whether a cut file says of each address what the whole one says. */
#include "object/cut/internal.h"
#include "object/frames/table.h"

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_names(const struct pd_cut_open *whole, const struct pd_symtab *names)
{
    const struct pd_cut_source *source = whole->source;
    for (size_t i = 0; i < source->count; i++) {
        const struct pd_symbol *a = pd_symtab_find(whole->names, source->addresses[i]);
        const struct pd_symbol *b = pd_symtab_find(names, source->addresses[i]);
        if (!a != !b)
            return false;
        if (a && (a->start != b->start || a->end != b->end || a->binding != b->binding ||
                  a->type != b->type || strcmp(a->name, b->name) != 0))
            return false;
    }
    return true;
}

static bool same_functions(struct pd_lines *whole, struct pd_lines *cut, uint64_t address)
{
    struct pd_lines_function a[PD_LINES_NESTED_MAX], b[PD_LINES_NESTED_MAX];
    size_t count = pd_lines_functions(whole, address, a);
    if (pd_lines_functions(cut, address, b) != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!same_text(a[i].name, b[i].name) || !same_text(a[i].file, b[i].file) ||
            a[i].line != b[i].line)
            return false;
    return true;
}

static bool same_lines(const struct pd_cut_open *whole, struct pd_lines *lines)
{
    const struct pd_cut_source *source = whole->source;
    bool same = lines != NULL;
    for (size_t i = 0; i < source->count && same; i++) {
        uint64_t address = source->addresses[i] + whole->text_offset;
        const char *file = NULL, *other = NULL;
        unsigned line = 0, other_line = 0;
        same = pd_lines_find(whole->lines, address, &file, &line) ==
                   pd_lines_find(lines, address, &other, &other_line) &&
               same_text(file, other) && line == other_line &&
               same_functions(whole->lines, lines, address);
    }
    return same;
}

static bool same_rule(const struct pd_rule *a, const struct pd_rule *b)
{
    if (a->kind != b->kind || a->about != b->about || a->other != b->other || a->size != b->size)
        return false;
    if (a->kind != PD_RULE_EXPRESSION && a->kind != PD_RULE_VALUE)
        return a->to.offset == b->to.offset;
    return !a->size || !memcmp(a->to.expression, b->to.expression, a->size);
}

static bool same_step(const struct pd_frame_step *a, const struct pd_frame_step *b)
{
    bool none = a->fails == PD_UNWIND_NO_TABLE || a->fails == PD_UNWIND_NO_RULES;
    if (none) /* a file of whose functions none is kept has no table */
        return b->fails == PD_UNWIND_NO_TABLE || b->fails == PD_UNWIND_NO_RULES;
    if (a->fails != b->fails || a->is_signal != b->is_signal || a->is_signed != b->is_signed ||
        a->count != b->count || !same_rule(&a->cfa, &b->cfa) || !same_rule(&a->back, &b->back))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!same_rule(&a->saved[i], &b->saved[i]))
            return false;
    return true;
}

static bool same_steps(const struct pd_cut_open *whole, struct pd_frame_rules *rules)
{
    const struct pd_cut_source *source = whole->source;
    for (size_t i = 0; i < source->count; i++)
        for (uint64_t before = 0; before < 2; before++) {
            uint64_t address = source->addresses[i] + whole->text_offset - before;
            if (!same_step(pd_frame_rules_find(whole->rules, address),
                           pd_frame_rules_find(rules, address)))
                return false;
        }
    return true;
}

bool pd_cut_check(const struct pd_cut_open *whole, const char *path)
{
    struct pd_elf cut;
    struct pd_build_id a = { 0 }, b = { 0 };
    uint64_t text_offset;
    if (!pd_elf_open(&cut, path))
        return false;
    bool same = pd_elf_build_id(&whole->program, &a) == pd_elf_build_id(&cut, &b) &&
                pd_build_id_equal(&a, &b);
    struct pd_symtab *names = pd_cut_names(&cut, &cut, whole->source->is_module, &text_offset);
    same = same && names && text_offset == whole->text_offset && same_names(whole, names);
    pd_symtab_free(names);
    if (same && whole->lines) {
        struct pd_lines *lines = pd_lines_open(path);
        same = same_lines(whole, lines);
        pd_lines_free(lines);
    }
    if (same && whole->rules) {
        struct pd_frame_rules *rules = pd_frame_rules_open(path, whole->source->machine);
        same = rules && same_steps(whole, rules);
        pd_frame_rules_free(rules);
    }
    pd_elf_close(&cut);
    return same;
}
