/* SPDX-License-Identifier: MIT */
/* Chains from copied stacks: the recorded chain ends at the kernel's border; what is in user space
 * is unwound from the registers and the copy of the stack with the programs' call frame
 * information, and along frame pointers where there is none. */
#include "resolve/resolver.h"
#include "base/memory.h"
#include "format/names.h"
#include "object/file.h"
#include <elf.h>
#include <unistd.h>

enum { NONE = 0xff, USER_REGISTERS = 32, GUESS_LIMIT = 0x4000 };

/* An architecture's registers: DWARF's number of each of perf's. */
struct machine {
    const char *arch;
    uint16_t elf;
    uint8_t ip, sp;      /* perf's numbers */
    uint8_t stack;       /* DWARF's numbers: of the stack pointer, */
    uint8_t frame, link; /* of the registers that are followed where there are no rules; */
    uint8_t counter;     /* of the instruction pointer, which rules of PLTs ask for; NONE: none */
    uint8_t numbers[USER_REGISTERS];
    /* perf has libdw there: no callers in memory without a file, no zeros from it */
    bool files_only;
};

/* clang-format off */
static const struct machine machines[] = {
    { "x86", EM_X86_64, 8, 7, 7, 6, NONE, 16,
      { 0, 3, 2, 1, 4, 5, 6, 7, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
        8, 9, 10, 11, 12, 13, 14, 15, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE } },
    { "arm64", EM_AARCH64, 32, 31, 31, NONE, 30, NONE,
      { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 } },
    { "s390", EM_S390, 33, 15, 15, NONE, NONE, NONE,
      { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        /* where functions that call none keep others' registers: f0 to f15 */
        16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31 },
      true },
};
/* clang-format on */

struct unwinding {
    struct pd_resolver *resolver;
    const struct pd_sample *sample;
    const struct machine *machine;
    struct pd_unwind frame;
};

bool pd_has_stack(const struct pd_sample *sample)
{
    const uint64_t both = PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER;
    return sample->stack_dynamic_size && sample->user_regs &&
           (sample->event->attr.sample_type & both) == both;
}

static bool register_value(const struct pd_sample *sample, unsigned number, uint64_t *value)
{
    uint64_t mask = sample->event->attr.sample_regs_user;
    if (number >= 64 || !(mask >> number & 1))
        return false;
    unsigned before = (unsigned)__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1));
    *value = pd_load64(sample->user_regs + 8 * (size_t)before, sample->swap);
    return true;
}

static int is_readable(void *data, const struct pd_map *map)
{
    return pd_symbols_has_file(data, map);
}

/* perf asks for a file of the process's that it can read before it unwinds; where the recording
 * does not name the machine, for a map. */
static bool can_unwind(struct pd_resolver *resolver)
{
    const struct pd_features *features = resolver->symbols->features;
    uint64_t stamp = resolver->user->stamp;
    if (!features || !features->arch.present)
        return resolver->user->version != NULL;
    if (resolver->unwind_stamp != stamp) {
        resolver->unwind_stamp = stamp;
        resolver->can_unwind = pd_maps_view_each(resolver->user, is_readable, resolver->symbols);
    }
    return resolver->can_unwind;
}

/* ---- memory ---- */

/* A word of code that is read in place. */
static bool read_code(struct unwinding *u, const struct pd_map *map, uint64_t address,
                      uint64_t *value)
{
    const struct pd_image *image = pd_symbols_image(u->resolver->symbols, map);
    uint64_t at = pd_map_address(map, address);
    if (!image || !pd_range_ok(at, 8, image->size))
        return false;
    *value = pd_load64(image->data + at, u->sample->swap);
    return true;
}

/* Where the process has a map without a file, such as its stack, perf reads a zero and goes on. */
static bool read_mapped(struct unwinding *u, uint64_t address, uint64_t *value)
{
    const struct pd_map *map = pd_maps_view_find(u->resolver->user, address);
    if (!map || map->end - address < 8)
        return false;
    *value = 0;
    if (!pd_symbols_has_file(u->resolver->symbols, map))
        return !u->machine->files_only;
    if (map->dso->code)
        return read_code(u, map, address, value);
    const char *path = pd_symbols_file(u->resolver->symbols, map);
    int file = path ? pd_file_open(path) : -1;
    uint8_t bytes[8];
    bool got = file >= 0 && pread(file, bytes, 8, (off_t)pd_map_address(map, address)) == 8;
    if (file >= 0)
        close(file);
    if (got)
        *value = pd_load64(bytes, u->sample->swap);
    return got;
}

/* Reads a word of the copied stack or, outside it, of the maps; perf never reads the copy's last
 * word. */
static bool read_memory(void *data, uint64_t address, uint64_t *value)
{
    return address <= UINT64_MAX - 8 && read_mapped(data, address, value);
}

/* ---- steps ---- */

/* Without rules: once where the link register leads. */
static bool follow_link(struct unwinding *u)
{
    struct pd_unwind *frame = &u->frame;
    uint8_t number = u->machine->link;
    if (number == NONE || !(frame->known >> number & 1) || !frame->registers[number])
        return false;
    frame->ip = frame->registers[number];
    frame->known &= ~(UINT64_C(1) << number);
    return true;
}

/* Without rules: as if a frame pointer led to the caller, unless it looks wrong. */
static bool follow_frame_pointer(struct unwinding *u)
{
    struct pd_unwind *frame = &u->frame;
    uint8_t number = u->machine->frame;
    uint64_t next, ip;
    if (number == NONE || !(frame->known >> number & 1))
        return false;
    uint64_t at = frame->registers[number];
    if (at < frame->cfa || at - frame->cfa > GUESS_LIMIT || !pd_unwind_read(frame, at, &next) ||
        !pd_unwind_read(frame, at + 8, &ip) || !ip)
        return false;
    frame->registers[number] = next;
    frame->cfa += 16;
    frame->registers[frame->stack_pointer] = frame->cfa;
    frame->known = UINT64_C(1) << number | UINT64_C(1) << frame->stack_pointer;
    frame->ip = ip;
    return true;
}

static const struct machine *machine_of(const struct pd_sample *sample, const char *arch)
{
    enum { ABI_64 = 2 };
    arch = pd_arch_normalise(arch);
    bool is_64_bit = (sample->user_abi & ~(uint64_t)PD_REGS_ABI_SIMD) == ABI_64;
    for (size_t i = 0; i < PD_LENGTH(machines) && is_64_bit; i++)
        if (!strcmp(machines[i].arch, arch))
            return &machines[i];
    return NULL;
}

/* Whether the registers that led there are not those of a caller. */
static bool leads_astray(const struct unwinding *u, const struct pd_location *location)
{
    const struct pd_dso *dso = location->map ? location->map->dso : NULL;
    return u->machine && u->machine->files_only &&
           (!dso || dso->kind == PD_DSO_PERF_MAP || dso->kind == PD_DSO_NO_FILE);
}

static void take_registers(struct unwinding *u)
{
    struct pd_unwind *frame = &u->frame;
    for (unsigned i = 0; i < USER_REGISTERS; i++) {
        uint8_t number = u->machine->numbers[i];
        if (number != NONE && register_value(u->sample, i, &frame->registers[number]))
            frame->known |= UINT64_C(1) << number;
    }
    frame->stack_pointer = u->machine->stack;
    frame->cfa = frame->registers[frame->stack_pointer];
    frame->read = read_memory;
    frame->data = u;
    frame->stack = u->sample->stack;
    frame->swap = u->sample->swap;
    frame->stack_start = frame->cfa;
    frame->stack_end = frame->cfa + PD_MIN(u->sample->stack_dynamic_size, u->sample->stack_size);
}

/* NULL: no file, or no memory. */
static const struct pd_frame_step *step_at(struct unwinding *u, const struct pd_location *location)
{
    struct pd_resolver *resolver = u->resolver;
    uint64_t address = location->addr;
    struct pd_frame_rules *rules = location->map
                                       ? pd_symbols_frame_rules(resolver->symbols, location->map,
                                                                u->machine->elf, &address)
                                       : NULL;
    if (!rules)
        return NULL;
    if (PD_UNLIKELY(!resolver->step_slots)) {
        resolver->step_slots = pd_large_calloc(PD_STEP_SLOTS, sizeof *resolver->step_slots);
        if (!resolver->step_slots)
            return NULL;
    }
    struct pd_step_slot *slot =
        &resolver->step_slots[pd_hash_pair(address, (uintptr_t)rules) % PD_STEP_SLOTS];
    if (slot->rules != rules || slot->address != address)
        *slot = (struct pd_step_slot){ rules, address, pd_frame_rules_find(rules, address) };
    return slot->step;
}

/* From the function that holds the address to its caller. Frame pointers are followed only in files
 * whose other functions have rules. */
static bool step(struct unwinding *u, const struct pd_location *location, bool *is_signal)
{
    enum pd_unwind_result result = PD_UNWIND_NO_TABLE;
    uint8_t counter = u->machine->counter;
    *is_signal = false;
    if (counter != NONE) {
        u->frame.registers[counter] = u->frame.ip;
        u->frame.known |= UINT64_C(1) << counter;
    }
    const struct pd_frame_step *known = step_at(u, location);
    if (known) {
        *is_signal = pd_frame_step_is_signal(known);
        result = pd_frame_step_take(known, &u->frame);
    }
    switch (result) {
    case PD_UNWIND_STEPPED: return true;
    case PD_UNWIND_NO_TABLE: return follow_link(u);
    case PD_UNWIND_NO_RULES: return follow_link(u) || follow_frame_pointer(u);
    case PD_UNWIND_END:
    case PD_UNWIND_LOST: break;
    }
    return false;
}

bool pd_unwind_begins(struct pd_resolver *resolver, const struct pd_sample *sample, uint64_t *ip)
{
    unsigned ip_number, sp_number;
    return pd_register_ip_sp(pd_features_arch(resolver->symbols->features), &ip_number,
                             &sp_number) &&
           register_value(sample, ip_number, ip) && can_unwind(resolver);
}

size_t pd_unwind_frames(struct pd_resolver *resolver, const struct pd_sample *sample,
                        const struct pd_thread *thread, uint64_t number, struct pd_frame *frames,
                        size_t capacity)
{
    const char *arch = pd_features_arch(resolver->symbols->features);
    struct unwinding u = { .resolver = resolver, .sample = sample };
    size_t count = 0;
    if (!pd_unwind_begins(resolver, sample, &u.frame.ip))
        return 0;
    if ((u.machine = machine_of(sample, arch)) != NULL)
        take_registers(&u);
    bool after_signal = true; /* its address is that of an instruction, not behind a call */
    while (count < capacity) {
        uint64_t ip = u.frame.ip, inside = ip - !after_signal;
        struct pd_location *location = pd_resolve(resolver, thread, number, PD_CPUMODE_USER,
                                                  inside);
        bool first = !count, is_signal = false;
        if (!location || (!first && leads_astray(&u, location)))
            break;
        bool stepped = u.machine && step(&u, location, &is_signal);
        frames[count].end = 0;
        frames[count].ip = first || is_signal ? ip : ip - 1;
        if (!frames[count].ip) /* perf shows none */
            break;
        frames[count].location = frames[count].ip == inside
                                     ? location
                                     : pd_resolve(resolver, thread, number, PD_CPUMODE_USER,
                                                  frames[count].ip);
        count += frames[count].location != NULL;
        if (!stepped)
            break;
        after_signal = is_signal;
    }
    return count;
}
