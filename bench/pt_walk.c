/* SPDX-License-Identifier: MIT */
/* Code run by chance, and the packets that a processor would make of it. Each conditional branch
 * has a bias of its own, each indirect one its few targets; what comes when is never repeated. */
#include "pt_walk.h"
#include <stdlib.h>

enum {
    TIP_PGD = 0x01,
    TIP = 0x0d,
    TIP_PGE = 0x11,
    FUP = 0x1d,
    TNT_BITS = 6,
    NO_PACKET_INSNS = 4096, /* longer without a packet: a loop that nothing leaves */
    CBR_RATIO = 23
};

static uint64_t chance(struct pt_cpu *cpu)
{
    cpu->random ^= cpu->random << 13;
    cpu->random ^= cpu->random >> 7;
    cpu->random ^= cpu->random << 17;
    return cpu->random;
}

/* Packets */

static void put(struct pt_cpu *cpu, const void *bytes, size_t size)
{
    if (cpu->room - cpu->size < size) {
        cpu->room = 2 * cpu->room + 4096;
        cpu->bytes = realloc(cpu->bytes, cpu->room);
        if (!cpu->bytes)
            pt_stop("no memory", "trace");
    }
    memcpy(cpu->bytes + cpu->size, bytes, size);
    cpu->size += size;
}

static void put_cyc(struct pt_cpu *cpu)
{
    uint64_t cycles = cpu->tsc - cpu->last_cyc;
    uint8_t bytes[10];
    size_t size = 1;
    if (cpu->clock != PT_CYC_MTC || !cycles)
        return;
    cpu->last_cyc = cpu->tsc;
    bytes[0] = (uint8_t)(3 | cycles << 3);
    for (cycles >>= 5; cycles; cycles >>= 7) {
        bytes[size - 1] |= size == 1 ? 4 : 1; /* more follows */
        bytes[size++] = (uint8_t)(cycles << 1);
    }
    put(cpu, bytes, size);
}

static void put_tnt(struct pt_cpu *cpu)
{
    if (!cpu->tnt_count)
        return;
    uint8_t byte = (uint8_t)((1 << cpu->tnt_count | cpu->tnt) << 1);
    put_cyc(cpu);
    put(cpu, &byte, 1);
    cpu->tnt = cpu->tnt_count = 0;
}

static void add_tnt(struct pt_cpu *cpu, bool taken)
{
    cpu->tnt = (uint8_t)(cpu->tnt << 1 | taken);
    if (++cpu->tnt_count == TNT_BITS)
        put_tnt(cpu);
}

/* A packet with the address in as few bytes as the last one allows. */
static void put_ip(struct pt_cpu *cpu, uint8_t kind, uint64_t ip)
{
    uint64_t changed = ip ^ cpu->last_ip;
    uint8_t form = changed >> 16 == 0 ? 1 : changed >> 32 == 0 ? 2 : 3, bytes[7];
    put_tnt(cpu);
    if (kind != FUP)
        put_cyc(cpu);
    bytes[0] = (uint8_t)(kind | form << 5);
    pd_store32(bytes + 1, (uint32_t)ip, false);
    pd_store16(bytes + 5, (uint16_t)(ip >> 32), false);
    put(cpu, bytes, 1 + 2u * form);
    cpu->last_ip = ip;
}

static void put_end(struct pt_cpu *cpu)
{
    static const uint8_t no_ip = TIP_PGD;
    put_tnt(cpu);
    put_cyc(cpu);
    put(cpu, &no_ip, 1);
}

static void put_tsc(struct pt_cpu *cpu)
{
    uint8_t tsc[8] = { 0x19 }, tma[7] = { 0x02, 0x73 };
    for (unsigned i = 0; i < 7; i++)
        tsc[1 + i] = (uint8_t)(cpu->tsc >> 8 * i);
    put(cpu, tsc, sizeof tsc);
    if (cpu->clock != PT_CYC_MTC)
        return;
    pd_store16(tma + 2, (uint16_t)(cpu->tsc / PT_CTC_TICKS), false);
    pd_store16(tma + 5, (uint16_t)(cpu->tsc % PT_CTC_TICKS), false);
    put(cpu, tma, sizeof tma);
}

static void put_ratio(struct pt_cpu *cpu)
{
    static const uint8_t ratio[] = { 0x02, 0x03, CBR_RATIO, 0 };
    put(cpu, ratio, sizeof ratio);
}

static void put_mode(struct pt_cpu *cpu)
{
    static const uint8_t mode[] = { 0x99, 0x01 }; /* 64-bit */
    put(cpu, mode, sizeof mode);
}

/* Every MTC packet whose time has come. */
static void put_mtcs(struct pt_cpu *cpu)
{
    const uint64_t period = (uint64_t)PT_CTC_TICKS << PT_MTC_PERIOD;
    uint64_t now = cpu->tsc;
    for (; cpu->next_mtc <= now; cpu->next_mtc += period) {
        uint8_t mtc[] = { 0x59, (uint8_t)(cpu->next_mtc / period) };
        put_tnt(cpu);
        cpu->tsc = PD_MAX(cpu->next_mtc, cpu->last_cyc);
        put_cyc(cpu);
        put(cpu, mtc, sizeof mtc);
    }
    cpu->tsc = now;
}

static uint64_t ip_of(const struct pt_cpu *cpu, struct pt_frame frame)
{
    return cpu->thread->base[frame.image] + cpu->code[frame.image].address + frame.at;
}

static void forget_returns(struct pt_cpu *cpu)
{
    cpu->return_count = 0;
}

static void put_psb(struct pt_cpu *cpu, bool running)
{
    static const uint8_t end[] = { 0x02, 0x23 };
    put_tnt(cpu);
    put_cyc(cpu);
    for (unsigned i = 0; i < 8; i++)
        put(cpu, (const uint8_t[]){ 0x02, 0x82 }, 2);
    cpu->last_ip = 0;
    forget_returns(cpu);
    put_tsc(cpu);
    if (running) {
        put_mode(cpu);
        put_ip(cpu, FUP, ip_of(cpu, cpu->thread->at));
    }
    put_ratio(cpu);
    put(cpu, end, sizeof end);
    cpu->next_psb = cpu->total + cpu->size + PT_PSB_BYTES;
}

static void begin_tracing(struct pt_cpu *cpu, bool scheduled)
{
    if (scheduled) {
        put_tsc(cpu);
        put_ratio(cpu);
    }
    put_mode(cpu);
    put_ip(cpu, TIP_PGE, ip_of(cpu, cpu->thread->at));
    forget_returns(cpu);
    cpu->branches++;
}

static void interrupt(struct pt_cpu *cpu)
{
    put_ip(cpu, FUP, ip_of(cpu, cpu->thread->at));
    put_end(cpu);
    cpu->branches++;
}

/* Instructions */

static struct pt_frame a_function(struct pt_cpu *cpu)
{
    uint8_t image = chance(cpu) % 4 == 0;
    const struct pt_code *code = &cpu->code[image];
    return (struct pt_frame){ image, code->starts[chance(cpu) % code->start_count] };
}

/* As a signal whose handler jumps out of some calls does. */
static void leave(struct pt_cpu *cpu)
{
    struct pt_thread *thread = cpu->thread;
    interrupt(cpu);
    cpu->tsc += 2000;
    put_mtcs(cpu);
    bool lost = thread->depth == PT_FRAMES; /* it would only come back here */
    thread->depth = thread->depth && !lost ? (uint32_t)(chance(cpu) % thread->depth) : 0;
    thread->at = thread->depth ? thread->frames[--thread->depth] : a_function(cpu);
    begin_tracing(cpu, false);
}

static void system_call(struct pt_cpu *cpu, struct pt_frame next)
{
    put_end(cpu);
    cpu->branches++;
    cpu->tsc += 300 + chance(cpu) % 2000;
    put_mtcs(cpu);
    cpu->thread->at = next;
    begin_tracing(cpu, false);
}

static void enter(struct pt_cpu *cpu, struct pt_frame back)
{
    struct pt_thread *thread = cpu->thread;
    thread->frames[thread->depth++] = back;
    cpu->return_top = (cpu->return_top + 1) % PT_RETURNS;
    cpu->returns[cpu->return_top] = ip_of(cpu, back);
    cpu->return_count = PD_MIN(cpu->return_count + 1, (uint32_t)PT_RETURNS);
}

static void go_back(struct pt_cpu *cpu)
{
    struct pt_thread *thread = cpu->thread;
    thread->at = thread->depth ? thread->frames[--thread->depth] : a_function(cpu);
    uint64_t ip = ip_of(cpu, thread->at);
    bool compressed = cpu->return_count && cpu->returns[cpu->return_top] == ip;
    if (cpu->return_count) {
        cpu->return_count--;
        cpu->return_top = (cpu->return_top + PT_RETURNS - 1) % PT_RETURNS;
    }
    if (compressed)
        add_tnt(cpu, true);
    else
        put_ip(cpu, TIP, ip);
}

static uint64_t phase(const struct pt_cpu *cpu)
{
    return cpu->instructions >> 16;
}

/* Nearly always or nearly never for most branches, as in real programs. What a branch does changes
 * with the phase that the program is in, so that no loop holds it for ever. */
static bool is_taken(struct pt_cpu *cpu, struct pt_code *code, uint32_t at, bool backwards)
{
    static const uint8_t of_256[16] = { 250, 248, 244, 240, 252, 8,  6,   4,
                                        12,  10,  16,  2,   192, 64, 128, 90 };
    enum pt_way way = pt_code_way(code, at);
    if (way != PT_WAY_EITHER)
        return (chance(cpu) >> 20 & 0xfff) == 0 ? way == PT_WAY_FALL : way == PT_WAY_TAKEN;
    uint64_t share = of_256[pt_mix(code->address + at + phase(cpu)) >> 60];
    if (backwards)
        share = 128 + share / 4 + share / 8;
    return (chance(cpu) >> 20 & 0xff) < share;
}

/* Most have one target as long as a phase lasts, some have a few. */
static struct pt_frame indirect(struct pt_cpu *cpu, struct pt_frame at)
{
    struct pt_code *code = &cpu->code[at.image];
    const struct pt_site *site = pt_code_site(code, at.at);
    uint64_t address = site->address, some = pt_mix(address + phase(cpu));
    uint64_t which = some >> 8;
    if (some % 8 >= 5)
        which += chance(cpu) % (some % 8);
    /* A jump before every function is a stub of the linker: it goes to the library. */
    if (pt_code_function(code, at.at) == code->function_count) {
        const struct pt_code *library = &cpu->code[PT_LIBRARY];
        return (struct pt_frame){ PT_LIBRARY,
                                  library->starts[pt_mix(address) % library->start_count] };
    }
    return (struct pt_frame){ at.image, site->targets[which % site->count] };
}

/* Two instructions a cycle, and a branch a cycle. Without CYC and MTC packets decoders take two
 * ticks for each instruction until the next TSC packet; a faster processor would let them be ahead
 * of the switches. */
static uint64_t ticks(const struct pt_cpu *cpu, bool branch)
{
    return cpu->clock == PT_TSC_ONLY ? 2 : branch ? 1 : cpu->instructions & 1;
}

/* One instruction; false: it is not for this walk, or a call would go too deep. */
static bool step(struct pt_cpu *cpu)
{
    struct pt_thread *thread = cpu->thread;
    struct pt_frame at = thread->at;
    struct pt_code *code = &cpu->code[at.image];
    const struct pt_insn insn = *pt_code_insn(code, at.at);
    struct pt_frame next = { at.image, at.at + insn.length }, target = next;
    target.at += (uint32_t)insn.rel;
    bool calls = insn.op == PD_INSN_CALL;
    if (insn.stops || next.at >= code->size || (calls && thread->depth == PT_FRAMES) ||
        (insn.branch != PD_BRANCH_NONE && target.at >= code->size))
        return false;
    thread->at = next;
    cpu->instructions++;
    cpu->tsc += ticks(cpu, insn.branch != PD_BRANCH_NONE);
    if (insn.branch == PD_BRANCH_NONE)
        return true;
    if (insn.op == PD_INSN_SYSCALL) {
        system_call(cpu, next);
        return true;
    }
    bool taken = true;
    if (insn.branch == PD_BRANCH_CONDITIONAL) {
        taken = is_taken(cpu, code, at.at, insn.rel < 0);
        add_tnt(cpu, taken);
        thread->at = taken ? target : next;
    } else if (insn.op == PD_INSN_RET) {
        go_back(cpu);
    } else if (insn.branch == PD_BRANCH_INDIRECT) {
        thread->at = indirect(cpu, at);
        if (calls)
            enter(cpu, next);
        put_ip(cpu, TIP, ip_of(cpu, thread->at));
    } else {
        thread->at = target;
        if (calls && insn.rel)
            enter(cpu, next);
    }
    cpu->branches += taken;
    if ((chance(cpu) & 0xff) == 0)
        cpu->tsc += chance(cpu) % 300; /* memory that was not in a cache */
    return true;
}

void pt_cpu_start(struct pt_cpu *cpu, uint64_t seed)
{
    const uint64_t period = (uint64_t)PT_CTC_TICKS << PT_MTC_PERIOD;
    cpu->random = pt_mix(seed) | 1;
    cpu->last_cyc = cpu->tsc;
    cpu->next_mtc = cpu->clock == PT_CYC_MTC ? (cpu->tsc / period + 1) * period : UINT64_MAX;
}

void pt_cpu_run(struct pt_cpu *cpu, uint64_t until)
{
    struct pt_thread *thread = cpu->thread;
    uint64_t without = 0;
    size_t size = cpu->size;
    put_mtcs(cpu);
    if (!thread->started)
        thread->at = a_function(cpu);
    thread->started = true;
    if (!cpu->next_psb)
        put_psb(cpu, false);
    begin_tracing(cpu, true);
    while (cpu->tsc < until) {
        without = size == cpu->size ? without + 1 : 0;
        size = cpu->size;
        if (!step(cpu) || without > NO_PACKET_INSNS)
            leave(cpu);
        if (cpu->tsc >= cpu->next_mtc)
            put_mtcs(cpu);
        if (cpu->total + cpu->size >= cpu->next_psb)
            put_psb(cpu, true);
    }
    interrupt(cpu);
}

void pt_cpu_pad(struct pt_cpu *cpu)
{
    static const uint8_t pads[8];
    put(cpu, pads, -cpu->size % 8);
}
