/* SPDX-License-Identifier: MIT */
/* The code that a made trace walks, from an ELF file of this machine. */
#include "pt_code.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

void pt_stop(const char *why, const char *what)
{
    fprintf(stderr, "pt_make: %s: %s\n", what, why);
    exit(1);
}

static uint8_t *read_whole(struct pt_code *code)
{
    struct stat st;
    FILE *file = fopen(code->path, "rb");
    if (!file || fstat(fileno(file), &st) < 0)
        pt_stop("cannot be read", code->path);
    code->file_size = (uint64_t)st.st_size;
    code->inode = st.st_ino;
    code->device = st.st_dev;
    uint8_t *bytes = malloc(code->file_size + sizeof(Elf64_Ehdr));
    if (!bytes || fread(bytes, 1, code->file_size, file) != code->file_size)
        pt_stop("cannot be read", code->path);
    fclose(file);
    return bytes;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void add_functions(struct pt_code *code, const Elf64_Sym *symbols, size_t count)
{
    uint32_t *more = realloc(code->functions,
                             (code->function_count + count + 1) * sizeof *code->functions);
    if (!more)
        pt_stop("no memory", code->path);
    code->functions = more;
    for (size_t i = 0; i < count; i++)
        if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_size &&
            symbols[i].st_value - code->address < code->size)
            more[code->function_count++] = (uint32_t)(symbols[i].st_value - code->address);
}

static uint32_t function_end(const struct pt_code *code, size_t function)
{
    return function + 1 < code->function_count ? code->functions[function + 1]
                                               : (uint32_t)code->size;
}

/* It has a system call, or what it calls has, to that depth. */
static bool enters_kernel(struct pt_code *code, size_t function, unsigned depth)
{
    const uint32_t begin = code->functions[function], end = function_end(code, function);
    for (uint32_t i = begin; i < end;) {
        const struct pt_insn *insn = pt_code_insn(code, i);
        uint32_t target = i + insn->length + (uint32_t)insn->rel;
        if (insn->op == PD_INSN_SYSCALL)
            return true;
        bool leaves = insn->branch == PD_BRANCH_UNCONDITIONAL && target < code->size &&
                      (target < begin || target >= end);
        if (leaves && depth) {
            size_t callee = pt_code_function(code, target);
            if (callee < code->function_count && enters_kernel(code, callee, depth - 1))
                return true;
        }
        i += insn->length;
    }
    return false;
}

/* Without what enters the kernel, or nearly: a quarter of the C library's functions are little but
 * a system call, and no program spends its time so. */
static void sort_functions(struct pt_code *code)
{
    enum { KEPT_OF = 64, DEPTH = 2 };
    size_t kept = 0;
    qsort(code->functions, code->function_count, sizeof *code->functions, by_value);
    for (size_t i = 0; i < code->function_count; i++)
        if (!kept || code->functions[i] != code->functions[kept - 1])
            code->functions[kept++] = code->functions[i];
    code->function_count = kept;
    code->starts = calloc(kept, sizeof *code->starts);
    code->rare = calloc(kept, sizeof *code->rare);
    if (!code->starts || !code->rare)
        pt_stop("no memory", code->path);
    for (size_t i = 0; i < kept; i++) {
        code->rare[i] = enters_kernel(code, i, DEPTH);
        if (!code->rare[i] || pt_mix(code->functions[i]) % KEPT_OF == 0)
            code->starts[code->start_count++] = code->functions[i];
    }
}

void pt_code_load(struct pt_code *code, const char *path)
{
    memset(code, 0, sizeof *code);
    code->path = path;
    uint8_t *file = read_whole(code);
    const Elf64_Ehdr *header = (const void *)file;
    if (code->file_size < sizeof *header || memcmp(file, ELFMAG, SELFMAG) != 0 ||
        header->e_machine != EM_X86_64)
        pt_stop("is no program of x86-64", path);
    const Elf64_Phdr *segments = (const void *)(file + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X) {
            code->address = segments[i].p_vaddr;
            code->offset = segments[i].p_offset;
            code->size = segments[i].p_filesz;
        }
    if (!code->size || code->size > UINT32_MAX || code->offset + code->size > code->file_size)
        pt_stop("has no code", path);
    code->bytes = calloc(code->size + PD_INSN_BUFFER, 1);
    code->insns = calloc(code->size, sizeof *code->insns);
    if (!code->bytes || !code->insns)
        pt_stop("no memory", path);
    memcpy(code->bytes, file + code->offset, code->size);
    const Elf64_Shdr *sections = (const void *)(file + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM)
            add_functions(code, (const void *)(file + sections[i].sh_offset),
                          sections[i].sh_size / sizeof(Elf64_Sym));
    free(file);
    if (!code->function_count)
        pt_stop("has no names of functions", path);
    sort_functions(code);
}

void pt_code_free(struct pt_code *code)
{
    free(code->bytes);
    free(code->insns);
    free(code->functions);
    free(code->starts);
    free(code->rare);
    free(code->sites);
}

/* What ends a process, or what this walk does not follow. */
static bool stops(const uint8_t *bytes, const struct pd_insn *insn)
{
    bool undefined = bytes[0] == 0x0f && bytes[1] == 0x0b, halt = bytes[0] == 0xf4;
    return undefined || halt || insn->op == PD_INSN_INT || insn->op == PD_INSN_IRET ||
           insn->op == PD_INSN_SYSRET || insn->op == PD_INSN_VMENTRY;
}

const struct pt_insn *pt_code_insn(struct pt_code *code, uint32_t at)
{
    struct pt_insn *insn = &code->insns[at];
    struct pd_insn decoded;
    if (insn->length)
        return insn;
    const uint8_t *bytes = code->bytes + at;
    size_t left = PD_MIN(code->size - at, PD_INSN_BUFFER);
    if (!pd_insn_decode(bytes, left, true, &decoded)) {
        *insn = (struct pt_insn){ .length = 1, .stops = true };
        return insn;
    }
    *insn = (struct pt_insn){ .op = decoded.op,
                              .branch = decoded.branch,
                              .length = decoded.length,
                              .stops = stops(bytes, &decoded),
                              .rel = decoded.rel };
    return insn;
}

size_t pt_code_function(const struct pt_code *code, uint32_t at)
{
    size_t low = 0, high = code->function_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code->functions[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : code->function_count;
}

/* What is at this byte ends in a call of a function that is rarely called, as an error's message
 * is, or in a system call. */
static bool is_rare(struct pt_code *code, uint32_t at)
{
    for (unsigned i = 0; i < 32 && at < code->size; i++) {
        const struct pt_insn *insn = pt_code_insn(code, at);
        uint32_t next = at + insn->length, target = next + (uint32_t)insn->rel;
        if (insn->stops || insn->op == PD_INSN_SYSCALL)
            return true;
        if (insn->op == PD_INSN_CALL && insn->branch == PD_BRANCH_UNCONDITIONAL &&
            target < code->size) {
            size_t callee = pt_code_function(code, target);
            return callee < code->function_count && code->rare[callee];
        }
        if (insn->branch != PD_BRANCH_NONE && insn->op != PD_INSN_CALL)
            return false;
        at = next;
    }
    return false;
}

enum pt_way pt_code_way(struct pt_code *code, uint32_t at)
{
    struct pt_insn *insn = &code->insns[at];
    if (insn->way == PT_WAY_UNKNOWN) {
        uint32_t next = at + insn->length;
        bool taken = is_rare(code, next + (uint32_t)insn->rel), fall = is_rare(code, next);
        insn->way = taken == fall ? PT_WAY_EITHER : taken ? PT_WAY_FALL : PT_WAY_TAKEN;
    }
    return insn->way;
}

/* Labels behind a jump in its function: what direct jumps go to. */
static void add_labels(struct pt_code *code, struct pt_site *site, uint32_t at)
{
    size_t function = pt_code_function(code, at);
    if (function == code->function_count)
        return;
    uint32_t begin = code->functions[function], end = function_end(code, function);
    for (uint32_t i = begin; i < end && site->count < PT_TARGETS;) {
        const struct pt_insn *insn = pt_code_insn(code, i);
        uint32_t target = i + insn->length + (uint32_t)insn->rel;
        bool direct = insn->op == PD_INSN_JCC ||
                      (insn->op == PD_INSN_JMP && insn->branch == PD_BRANCH_UNCONDITIONAL);
        if (direct && target > at && target < end && pt_mix(target) % 3 == 0)
            site->targets[site->count++] = target;
        i += insn->length;
    }
}

static void fill_site(struct pt_code *code, struct pt_site *site, uint32_t at)
{
    uint64_t chance = pt_mix(at);
    if (pt_code_insn(code, at)->op == PD_INSN_JMP)
        add_labels(code, site, at);
    if (site->count)
        return;
    for (site->count = 0; site->count < PT_TARGETS; site->count++)
        site->targets[site->count] = code->starts[pt_mix(chance + site->count) % code->start_count];
}

static struct pt_site *find_site(const struct pt_code *code, uint64_t address)
{
    size_t slot = pt_mix(address) & (code->site_room - 1);
    while (code->sites[slot].address && code->sites[slot].address != address)
        slot = (slot + 1) & (code->site_room - 1);
    return &code->sites[slot];
}

static void grow_sites(struct pt_code *code)
{
    struct pt_code grown = { .site_room = code->site_room ? 2 * code->site_room : 1024 };
    grown.sites = calloc(grown.site_room, sizeof *grown.sites);
    if (!grown.sites)
        pt_stop("no memory", code->path);
    for (size_t i = 0; i < code->site_room; i++)
        if (code->sites[i].address)
            *find_site(&grown, code->sites[i].address) = code->sites[i];
    free(code->sites);
    code->sites = grown.sites;
    code->site_room = grown.site_room;
}

const struct pt_site *pt_code_site(struct pt_code *code, uint32_t at)
{
    if (2 * code->site_count >= code->site_room)
        grow_sites(code);
    struct pt_site *site = find_site(code, code->address + at);
    if (!site->address) {
        site->address = code->address + at;
        code->site_count++;
        fill_site(code, site, at);
    }
    return site;
}
