/* SPDX-License-Identifier: MIT */
/* jitdump files: the code that a runtime made, with names, lines and unwinding, and the times when
 * it was made; and the ELF images that perf makes of them. */
#ifndef PD_JITDUMP_H
#define PD_JITDUMP_H
#include "base/text.h"
#include "object/elf/build_id.h"
#include "object/file.h"

#define PD_JIT_TEXT_AT 0x80 /* where the code lies in an image */

struct pd_jitdump;

enum pd_jit_kind { PD_JIT_LOAD, PD_JIT_MOVE };

/* Code that appears at an address, or moves to it. What it points to lies in the dump. */
struct pd_jit_entry {
    enum pd_jit_kind kind;
    uint32_t pid, tid;
    uint64_t time, address, size;
    uint64_t index; /* names the code: jitted-PID-INDEX.so */
    /* of a LOAD: */
    const char *name;
    size_t name_length;
    const uint8_t *code;
    const uint8_t *lines; /* rows of address, line, discriminator, file; NULL: none */
    size_t lines_size;
    uint64_t line_count;
    const uint8_t *unwinding; /* .eh_frame, then .eh_frame_hdr; NULL: none */
    size_t unwinding_size, unwinding_header_size;
    uint64_t unwinding_mapped;
};

/* A LOAD that is kept for readers of its symbols. */
struct pd_jit_code {
    const struct pd_jitdump *dump;
    const struct pd_jit_entry *entry;
    uint64_t version; /* different for each */
};

struct pd_jitdump {
    struct pd_bytes bytes;
    size_t at; /* of the next record */
    bool big_endian, swap;
    bool arch_times;  /* times are ticks of the processor, not of CLOCK_MONOTONIC */
    bool damaged;     /* the records end before the file */
    uint32_t machine; /* e_machine; what the runtime says until pd_jitdump_settle() */
    uint32_t pid;
    uint64_t strangers; /* records that name another process than the dump's, or would */
    bool is_settled;
    struct pd_jit_entry next; /* lines and unwinding that came in front of the next LOAD */
};

enum { PD_JITDUMP_LIMIT = 1 << 30 };

/* False: no dump, or of a version that is not known. The bytes are borrowed. */
bool pd_jitdump_open_memory(struct pd_jitdump *dump, const void *image, size_t size);
bool pd_jitdump_open(struct pd_jitdump *dump, const char *path);
/* What the recording says takes precedence over what the runtime wrote: ELF's number of the machine
 * (0: not known) and the process that mapped the dump, whose code all of it is. To be called before
 * the first record is read. */
void pd_jitdump_settle(struct pd_jitdump *dump, uint16_t machine, uint32_t pid);
void pd_jitdump_close(struct pd_jitdump *dump);
/* False at the end, and where records stop making sense. */
bool pd_jitdump_next(struct pd_jitdump *dump, struct pd_jit_entry *out);

/* The size of what perf maps for a LOAD: the code, and behind it what it is unwound by. */
uint64_t pd_jit_mapped_size(const struct pd_jit_entry *entry);
/* "jit-PID.dump", whatever the folder: a map of it tells that this process writes a dump. */
bool pd_jitdump_is_marker(const char *path, size_t length, uint32_t pid);
/* FOLDER/jitted-PID-INDEX.so, the folder that of the dump. */
void pd_jit_path(const char *dump_path, size_t length, const struct pd_jit_entry *entry,
                 struct pd_text *out);
/* An ELF file of a LOAD: symbol, code, unwinding, lines, and a build-id that follows from them.
 * False: no memory. */
bool pd_jit_image(const struct pd_jitdump *dump, const struct pd_jit_entry *entry,
                  struct pd_text *out, struct pd_build_id *id);

#endif
