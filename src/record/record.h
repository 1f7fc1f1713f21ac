/* SPDX-License-Identifier: MIT */
/* The layer record/: events of perf_event_open and what runs on this machine -> a recording. */
#ifndef PD_RECORD_H
#define PD_RECORD_H
#include "base/hash.h"
#include "io/output_file.h"
#include "object/elf/build_id.h"
#include "record/events/events.h"
#include "write/write.h"
#include <perfdata/recorder.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/types.h>

/* What kernels before some version do not know; perf finds out by failing, in this order
 * (open.c). */
enum pd_missing {
    PD_MISSING_LOST = 1 << 0,
    PD_MISSING_WEIGHT_STRUCT = 1 << 1,
    PD_MISSING_CODE_PAGE_SIZE = 1 << 2,
    PD_MISSING_DATA_PAGE_SIZE = 1 << 3,
    PD_MISSING_CGROUP = 1 << 4,
    PD_MISSING_HW_INDEX = 1 << 5,
    PD_MISSING_AUX_OUTPUT = 1 << 6,
    PD_MISSING_BPF = 1 << 7,
    PD_MISSING_KSYMBOL = 1 << 8,
    PD_MISSING_BACKWARD = 1 << 9,
    PD_MISSING_CLOCK = 1 << 10,
    PD_MISSING_CLOEXEC = 1 << 11,
    PD_MISSING_MMAP2 = 1 << 12,
    PD_MISSING_GUEST = 1 << 13,
    PD_MISSING_ID_ALL = 1 << 14,
    PD_MISSING_LBR_FLAGS = 1 << 15,
    PD_MISSING_GROUP_READ = 1 << 16
};

/* One event on one CPU and thread. */
struct pd_opened {
    int fd; /* -1: not opened, its thread is gone */
    uint64_t id;
    int32_t cpu, tid;
    uint32_t ring; /* number of the buffer it writes to */
};

struct pd_ring {
    uint8_t *base;  /* the kernel's page, then the data */
    uint64_t size;  /* of the data */
    uint64_t start; /* backward rings: what was read before */
    int fd;
    int32_t cpu, tid;
    bool backward;
    uint8_t *aux; /* AUX area, NULL: none */
    uint64_t aux_size, aux_read;
    uint8_t *mark; /* what lay before aux_read at the last snapshot; NULL: none yet */
    uint64_t mark_size;
};

/* Build-ids of files that are mapped. */
struct pd_mapped_ids {
    PD_VEC(struct pd_build_id) list;
    struct pd_map64 number_of; /* device and inode -> in the list */
};

void pd_mapped_ids_free(struct pd_mapped_ids *ids);

struct pd_cgroup {
    const char *name;
    int fd;
};

struct pd_numbers {
    int32_t *data;
    size_t count, capacity;
};

typedef PD_VEC(struct pd_opened) pd_opened_vec;

/* What is known of BPF programs: entries of the header's features, and whose they are. */
struct pd_bpf {
    struct pd_text programs, types;
    struct pd_numbers program_ids, type_ids;
};

/* An event on one CPU that is only counted. */
struct pd_trigger {
    int fd;
    uint8_t *base; /* a buffer of its own: the kernel's page, then one of data */
};

struct pd_triggers {
    struct pd_events events;
    PD_VEC(struct pd_trigger) list;
    uint64_t seen;
};

struct perfdata_recorder {
    struct pd_context context;
    struct perfdata_recorder_options options;
    struct pd_calls calls;
    struct pd_roots roots;
    struct pd_arena arena;
    struct pd_events events;
    size_t last_list; /* the first event of the last -e */
    PD_VEC(struct pd_cgroup) cgroups;
    size_t next_cgroup; /* names that were given so far */
    /* Whom to watch. */
    struct {
        struct pd_numbers cpus, threads; /* {-1}: any */
        bool by_cpu;                     /* -a, -C */
        bool per_thread;                 /* buffers per thread, not per CPU */
    } targets;
    uint32_t frequency;
    /* What was opened. */
    struct {
        unsigned missing;      /* enum pd_missing */
        pd_opened_vec *opened; /* by event */
        PD_VEC(struct pd_ring) rings;
        PD_VEC(struct pollfd) polls;
        struct pd_triggers triggers;
    } live;
    /* The command that is started. */
    struct {
        pid_t child;
        /* pipes to let it run and to hear why not; its pidfd */
        int child_go, child_error, child_fd;
        int child_status;
        bool child_done;
    } command;
    /* Where the recording goes. */
    struct {
        int fd;
        bool own_fd;
        /* the name of a FIFO or device to write to; options.path is then NULL */
        const char *stream;
        struct pd_output_file stream_file;
        int folder; /* of a directory, -1: it is none; `fd` is its file `data` */
        struct pd_writer *writer;
    } output;
    /* Threads that read the buffers. */
    struct {
        PD_VEC(struct pd_worker *) workers; /* threads that read the buffers; none: we do */
        struct pd_numbers bound;            /* where this thread runs, with options.affinity */
        size_t alive;                       /* of them, those that may get more records */
    } readers;
    struct pd_mapped_ids mapped_ids;
    struct pd_bpf bpf;
    uint64_t wakeups, clock_wall, clock_time;
    uint64_t cpus_possible;
    uint64_t kernel_start, kernel_end; /* its text, 0: not known */
    uint32_t switches;                 /* how AUXTRACE_INFO says that switches are known */
    size_t trailer;                    /* bytes of the identity behind synthesised records */
    /* How far it is. */
    struct {
        bool started, enabled, finished, told_offline;
    } phase;
    atomic_int stop; /* set by any thread and by handlers of signals */
    int stop_fd;     /* an eventfd: wakes perfdata_recorder_read() */
};

PD_INLINE bool pd_record_flag(const perfdata_recorder *recorder, unsigned flag)
{
    return recorder->options.flags & flag;
}

PD_INLINE struct pd_selected *pd_record_event(const perfdata_recorder *recorder, size_t index)
{
    return &recorder->events.list.data[index];
}

PD_INLINE size_t pd_record_event_count(const perfdata_recorder *recorder)
{
    return recorder->events.list.count;
}

/* context.c */
perfdata_status pd_record_no_memory(perfdata_recorder *recorder);
/* What -v shows from `level` on. */
void pd_record_log(const perfdata_recorder *recorder, int level, const char *format, ...)
    PD_PRINTF(3, 4);

/* "0-3,5" -> numbers, ascending. */
bool pd_numbers_parse(const char *text, struct pd_numbers *out);
bool pd_numbers_have(const struct pd_numbers *numbers, int32_t number);

/* targets.c: CPUs, threads and the default of the frequency. */
perfdata_status pd_record_targets(perfdata_recorder *recorder);
perfdata_status pd_record_numbers(perfdata_recorder *recorder, const char *text, const char *what,
                                  struct pd_numbers *out);
/* The kernel's list of CPUs that are "online", "possible" ...; where sysfs is not mounted, all that
 * run. For free(); NULL: no memory. */
char *pd_record_cpu_list(const perfdata_recorder *recorder, const char *which);

/* cgroups.c: where control groups lie: those of version 2, or those of version 1 that have
 * events. */
bool pd_cgroup_mount(const struct pd_roots *roots, bool unified, char out[PD_PATH_SIZE]);
void pd_record_close_cgroups(perfdata_recorder *recorder);

/* configure.c: the attributes as perf sets them. */
perfdata_status pd_record_configure(perfdata_recorder *recorder);

/* open.c: descriptors, ids, filters. */
int64_t pd_record_paranoid(const perfdata_recorder *recorder);
/* Why an event could not be opened, in perf's words. */
perfdata_status pd_record_explain(perfdata_recorder *recorder, const struct pd_selected *event,
                                  int error);
/* Why a buffer could not be mapped, in perf's words. */
perfdata_status pd_record_map_failed(perfdata_recorder *recorder, const char *what, int error);
perfdata_status pd_record_open_events(perfdata_recorder *recorder);

/* triggers.c: events that are counted only; their descriptors are polled behind all others. */
perfdata_status pd_triggers_open(perfdata_recorder *recorder);
void pd_triggers_read(perfdata_recorder *recorder);
void pd_triggers_close(perfdata_recorder *recorder);

/* bpf.c: asks for the programs that are not known yet; what the header says of them; their
 * symbols. */
perfdata_status pd_bpf_read(perfdata_recorder *recorder);
perfdata_status pd_bpf_set_features(perfdata_recorder *recorder);
perfdata_status pd_bpf_put_records(perfdata_recorder *recorder);
void pd_bpf_free(struct pd_bpf *bpf);

/* output.c */
bool pd_record_is_directory(const perfdata_recorder *recorder);
/* Tells a path that names a FIFO or a device from one of a file. */
void pd_record_know_stream(perfdata_recorder *recorder);
perfdata_status pd_record_open_output(perfdata_recorder *recorder);
void pd_record_close_output(perfdata_recorder *recorder);

/* kcore.c: a copy of the kernel's code into the directory, with its symbols and modules. */
bool pd_record_has_kcore(const perfdata_recorder *recorder);
perfdata_status pd_record_copy_kcore(perfdata_recorder *recorder);

/* ring.c */
perfdata_status pd_record_map_rings(perfdata_recorder *recorder);
/* Moves what is there to the recording; *moved: bytes. `last`: backward rings, too, which stand
 * still meanwhile. */
perfdata_status pd_record_read_rings(perfdata_recorder *recorder, bool last, uint64_t *moved);
/* affinity.c: moves this thread to where this CPU's buffers are to be read. */
void pd_record_follow(perfdata_recorder *recorder, int32_t cpu);
/* A thread, 0: this one, runs on these CPUs only. False and errno: it does not. */
bool pd_record_bind(pid_t thread, const struct pd_numbers *cpus);
/* The CPUs of the node that `cpu` is in; `cpu` alone where nothing is known of nodes. */
perfdata_status pd_record_node_of(perfdata_recorder *recorder, int32_t cpu, struct pd_numbers *out);
/* Reads one of the buffers; *moved grows by its bytes. The writer's context tells of a failure. */
perfdata_status pd_record_read_ring(perfdata_recorder *recorder, size_t index,
                                    struct pd_writer *writer, bool last, uint64_t *moved);
/* After poll(): buffers whose tasks are gone are not waited for again; false: none is left. */
bool pd_record_drop_gone(struct pollfd *polls, size_t count, int ready);
void pd_record_unmap_rings(perfdata_recorder *recorder);

/* kernel.c: finds kernel_start and kernel_end, once; false when the addresses are hidden. */
bool pd_record_kernel_range(perfdata_recorder *recorder);
/* The maps of the kernel, its modules and the same of guests. */
perfdata_status pd_record_put_kernels(perfdata_recorder *recorder);

/* synthesize.c: what runs already, as records. */
perfdata_status pd_record_synthesize_head(perfdata_recorder *recorder);
perfdata_status pd_record_synthesize_tasks(perfdata_recorder *recorder);
/* The command's name, even where all other synthesized records come at the end. */
perfdata_status pd_record_synthesize_command(perfdata_recorder *recorder);

/* features.c: the header's features of the machine and of the events; tracing.c: formats of
 * tracepoints. */
perfdata_status pd_record_machine(perfdata_recorder *recorder);
perfdata_status pd_record_event_features(perfdata_recorder *recorder);
perfdata_status pd_record_tracing_data(perfdata_recorder *recorder);

/* finish.c: build-ids and times, from the file itself. */
perfdata_status pd_record_look_back(perfdata_recorder *recorder, uint64_t *samples);

#endif
