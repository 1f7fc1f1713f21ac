/* SPDX-License-Identifier: MIT */
/* From a file, a kernel, the vdso or a perf map to symbols. Knows nothing of processes: who maps an
 * object where, and which address belongs to which object, is the caller's business.
 *
 * Addresses: symbols of user objects lie at file offsets (look up ip - map.start + map.pgoff);
 * symbols of the kernel from kallsyms at runtime addresses (look up ip); symbols of perf maps at
 * runtime addresses. */
#ifndef PD_OBJECT_H
#define PD_OBJECT_H
#include "base/context.h"
#include "object/elf/build_id.h"
#include "object/fetch.h"
#include "object/symtab/symtab.h"

/* Where to look and what to do. Strings are borrowed and must live as long as the calls. All zero
 * is usable but looks into no cache (home) and demangles nothing. */
struct pd_object_search {
    struct pd_context *context; /* may be NULL */
    const char *symfs;          /* --symfs DIR: before every path; NULL or "": none */
    const char
        *root; /* "/proc/PID/root": whose paths are meant; NULL: ours. Before paths without symfs */
    const char *system_root; /* for tests: what stands for / of the running kernel's files */
    const char *kallsyms;    /* --kallsyms FILE (symfs is not put before it)     */
    const char *vmlinux;     /* --vmlinux FILE                                   */
    const char *home;        /* cache is HOME/.debug (with symfs: SYMFS/.debug)  */
    const char *cache;       /* --buildid-dir DIR: cache instead of HOME/.debug  */
    const char *index;       /* folder of indexes, see index/folder.h; NULL: none */
    const char *jitdump;     /* dumps of runtimes: this folder; "": as recorded; NULL: unread */
    const struct perfdata_debuginfod *debuginfod; /* what pd_session_open() makes `fetch` of */
    struct pd_fetch *fetch; /* of files that are not here; NULL: none is fetched */
    const char *os_release; /* of the header's OSRELEASE; NULL: running kernel's */
    /* the recorded kernel is not the running one: nothing of that one is used unasked */
    bool kernel_elsewhere;
    bool arch_elsewhere; /* nor is it of this machine's architecture */
    bool ignore_vmlinux;
    bool ignore_build_id; /* --ignore-vmlinux-buildid... : accept any file */
    bool demangle;        /* perf: on */
    bool demangle_kernel; /* perf: off */
    bool verbose_names;   /* -v: C++ names with parameters */
    bool force;           /* -f: perf maps of other owners */
    bool gnu_debugdata;   /* read .gnu_debugdata, as newer perf does; perf 6.1: off */
};

bool pd_search_has_symfs(const struct pd_object_search *search);

enum pd_object_type { /* where the symbols came from */
                      PD_OBJECT_NOT_FOUND = 0,
                      PD_OBJECT_PERF_MAP,
                      PD_OBJECT_DEBUGLINK,
                      PD_OBJECT_BUILD_ID_CACHE,
                      PD_OBJECT_BUILD_ID_CACHE_DEBUG,
                      PD_OBJECT_FEDORA_DEBUG,
                      PD_OBJECT_UBUNTU_DEBUG,
                      PD_OBJECT_BUILD_ID_DEBUG,
                      PD_OBJECT_SYSTEM,
                      PD_OBJECT_MODULE,
                      PD_OBJECT_MODULE_COMPRESSED,
                      PD_OBJECT_OPENEMBEDDED_DEBUG,
                      PD_OBJECT_MIXEDUP_UBUNTU_DEBUG,
                      PD_OBJECT_VMLINUX,
                      PD_OBJECT_KALLSYMS,
                      PD_OBJECT_MEMORY
};

/* Immutable, shared by threads without locks. */
struct pd_object {
    struct pd_symtab *symtab; /* never NULL; empty when nothing was found */
    enum pd_object_type type;
    char *symbol_path;  /* the file that gave the symbols, symfs included; NULL: none */
    bool has_symtab;    /* symbol_path's file has a full symbol table, not the dynamic one only */
    char *runtime_path; /* the file that gave sections and PLT; NULL: none            */
    struct pd_build_id build_id; /* recorded, else read from the file; size 0: none            */
    uint16_t machine;            /* e_machine, 0 unknown */
    bool is_64_bit;
    bool relocatable;    /* ET_REL: a module */
    bool adjust_symbols; /* symbols are at file offsets */
    /* sh_addr - sh_offset of .text: file offset to the file's own virtual address */
    uint64_t text_offset;
    /* modules: the module's map gets this pgoff (file offset of .text) once loaded */
    uint64_t module_pgoff;
};

/* A user object (program, library, jitted .so, `[vdso]` with a recorded build-id). `recorded`: NULL
 * or size 0: none was recorded. Nothing usable found is no error: type NOT_FOUND and an empty
 * table. Only lack of memory is an error. */
perfdata_status pd_object_load(const struct pd_object_search *search, const char *long_name,
                               const struct pd_build_id *recorded, struct pd_object **out);

/* A kernel module's file (`/lib/modules/.../x.ko[.xz|.gz|.zst]`). NOT_FOUND: the module keeps the
 * symbols that pd_kernel_load gave for its map, if any. */
perfdata_status pd_object_load_module(const struct pd_object_search *search, const char *long_name,
                                      const struct pd_build_id *recorded, struct pd_object **out);

/* `path` as perf names it: "/tmp/perf-PID.map"; symfs is not put before it. `pid`: of the process,
 * 0: none. If it is alive and in a container, its map is "/tmp/perf-NSPID.map" there if that
 * exists, where NSPID is its pid as the container counts. */
perfdata_status pd_object_load_perf_map(const struct pd_object_search *search, const char *path,
                                        uint32_t pid, struct pd_object **out);

/* Whether this very process has a vdso and it is not looked for below symfs. */
bool pd_search_has_own_vdso(const struct pd_object_search *search);
/* The vdso of this very process: what perf takes when the header's table does not name `[vdso]`;
 * NOT_FOUND with symfs. */
perfdata_status pd_object_load_own_vdso(const struct pd_object_search *search,
                                        struct pd_object **out);

/* From bytes that the caller keeps until the call returns. An image that is no ELF file gives
 * NOT_FOUND. */
perfdata_status pd_object_load_memory(const struct pd_object_search *search, const void *image,
                                      size_t size, struct pd_object **out);
perfdata_status pd_object_load_perf_map_memory(const struct pd_object_search *search,
                                               const void *text, size_t size,
                                               struct pd_object **out);
void pd_object_free(struct pd_object *object);

enum { PD_OBJECT_PATH_ROOM = 4096 };
/* Where the file at `out` does not have this build-id, puts there the path of a file that a server
 * gave. False: `out` stays as it was. */
bool pd_object_fetch_program(const struct pd_object_search *search, const char *long_name,
                             const struct pd_build_id *id, char out[PD_OBJECT_PATH_ROOM]);
/* The file with the code of a user object or module: that of the build-id cache where there is no
 * symfs and it is there, else the object's own path, whether there is a file or not. perf looks
 * nowhere else for code that it shows. Where fetching is asked for and no file with this build-id
 * is at that path, a server's. False: no room. */
bool pd_object_code_path(const struct pd_object_search *search, const char *long_name,
                         const struct pd_build_id *id, char out[PD_OBJECT_PATH_ROOM]);

/* ---- kernel ---- */

struct pd_kernel_map {
    const char *name;    /* modules: short name with brackets, "[snd_pcm]"; main kernel: ignored */
    uint64_t start, end; /* as recorded */
    uint64_t pgoff;      /* modules: 0 */
    bool is_module;      /* exactly one map, the first, is none */
    /* perf drops kallsyms' symbols of a module that it looked up (and so tried to load) before the
     * kernel. */
    bool loaded_before;
};

struct pd_kernel_request {
    struct pd_build_id build_id; /* of the header or the MMAP2; size 0: none */
    const char *ref_reloc_name;  /* "_text" or "_stext"; NULL: none recorded */
    uint64_t ref_reloc_address;  /* the kernel map's recorded pgoff; 0: hidden, none */
    const char *kallsyms_text;   /* for tests: the table itself; NULL: look for a file */
    size_t kallsyms_size;
    const struct pd_kernel_map *maps;
    size_t map_count;
    bool is_x86_64; /* of the recording */
    /* NULL: the host's; else the name of the guest's kernel: it is only looked for where it was
     * named. */
    const char *guest;
};

/* A map of the kernel's map list after loading. */
struct pd_kernel_result_map {
    /* short name of its object: "[kernel.kallsyms]", "[snd_pcm]", "[kernel].0",
     * "[kernel.kallsyms].init.text" (long name of these: "[kernel.kallsyms]") */
    const char *name;
    uint64_t start, end; /* end 0: never matches an address (perf's "[kernel].N") */
    uint64_t pgoff;      /* look up ip - start + pgoff unless identity */
    bool identity;       /* look up ip */
    /* a segment of a kcore: it shares the kernel's object, whose symbols are map 0's */
    bool of_kernel;
    int32_t request_index;    /* of the request's map that this one is, -1: a new map */
    struct pd_symtab *symtab; /* NULL: no symbols from the kernel's table */
};

/* Immutable, shared by threads without locks. */
struct pd_kernel {
    enum pd_object_type type;          /* VMLINUX, KALLSYMS, NOT_FOUND */
    const char *short_name;            /* "[kernel.kallsyms]", also with a vmlinux */
    const char *long_name;             /* "[kernel.kallsyms]" or the vmlinux as it was named */
    char *path;                        /* the file used; NULL: none */
    char *code_path;                   /* the kcore; NULL: none, or a vmlinux has the code */
    uint64_t delta;                    /* runtime address = file address + delta */
    struct pd_kernel_result_map *maps; /* the request's maps in its order, then the new ones */
    size_t map_count;
    struct pd_arena arena;
};

/* As pd_object_load: nothing found is NOT_FOUND with the maps as requested and no tables. */
perfdata_status pd_kernel_load(const struct pd_object_search *search,
                               const struct pd_kernel_request *request, struct pd_kernel **out);
void pd_kernel_free(struct pd_kernel *kernel);

#endif
