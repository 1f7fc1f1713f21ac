/* SPDX-License-Identifier: MIT */
/* Recordings made here and now: events, whom they watch, where the recording goes.
 *
 *     struct perfdata_recorder_options options = { .struct_size = sizeof options,
 *                                                  .path = "perf.data",
 *                                                  .command = argv };
 *     perfdata_recorder *recorder;
 *     if (perfdata_recorder_open(&options, &recorder) == 0 &&
 *         perfdata_recorder_add_events(recorder, "cpu-clock") == 0 &&
 *         perfdata_recorder_start(recorder) == 0)
 *         while (perfdata_recorder_read(recorder, -1) > 0)
 *             continue;
 *     perfdata_recorder_finish(recorder);
 *     perfdata_recorder_close(recorder);
 *
 * The file can be read at every moment: what was read out of the kernel's buffers is in it. One
 * recorder is used by one thread at a time, except for perfdata_recorder_stop(), which a signal
 * handler may call. */
#ifndef PERFDATA_RECORDER_H
#define PERFDATA_RECORDER_H
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perfdata_recorder perfdata_recorder;

/* perf record's options of the same names. Since 0.1. */
enum perfdata_recorder_flags {
    PERFDATA_RECORDER_ALL_CPUS = 1 << 0,           /* -a */
    PERFDATA_RECORDER_PER_THREAD = 1 << 1,         /* --per-thread */
    PERFDATA_RECORDER_NO_INHERIT = 1 << 2,         /* -i */
    PERFDATA_RECORDER_ADDRESS = 1 << 3,            /* -d */
    PERFDATA_RECORDER_PERIOD = 1 << 4,             /* -P */
    PERFDATA_RECORDER_TIME = 1 << 5,               /* -T */
    PERFDATA_RECORDER_WEIGHT = 1 << 6,             /* -W */
    PERFDATA_RECORDER_CPU = 1 << 7,                /* --sample-cpu */
    PERFDATA_RECORDER_IDENTIFIER = 1 << 8,         /* --sample-identifier */
    PERFDATA_RECORDER_RAW = 1 << 9,                /* -R */
    PERFDATA_RECORDER_STAT = 1 << 10,              /* -s */
    PERFDATA_RECORDER_NO_SAMPLES = 1 << 11,        /* -n */
    PERFDATA_RECORDER_RUNNING_TIME = 1 << 12,      /* --running-time */
    PERFDATA_RECORDER_NO_BUFFERING = 1 << 13,      /* --no-buffering */
    PERFDATA_RECORDER_SWITCH_EVENTS = 1 << 14,     /* --switch-events */
    PERFDATA_RECORDER_NAMESPACES = 1 << 15,        /* --namespaces */
    PERFDATA_RECORDER_CGROUPS = 1 << 16,           /* --all-cgroups */
    PERFDATA_RECORDER_ALL_USER = 1 << 17,          /* --all-user */
    PERFDATA_RECORDER_ALL_KERNEL = 1 << 18,        /* --all-kernel */
    PERFDATA_RECORDER_USER_CALLCHAINS = 1 << 19,   /* --user-callchains */
    PERFDATA_RECORDER_KERNEL_CALLCHAINS = 1 << 20, /* --kernel-callchains */
    PERFDATA_RECORDER_PHYSICAL = 1 << 21,          /* --phys-data */
    PERFDATA_RECORDER_DATA_PAGE_SIZE = 1 << 22,    /* --data-page-size */
    PERFDATA_RECORDER_CODE_PAGE_SIZE = 1 << 23,    /* --code-page-size */
    PERFDATA_RECORDER_TRANSACTION = 1 << 24,       /* --transaction */
    PERFDATA_RECORDER_GROUP = 1 << 25,             /* --group */
    PERFDATA_RECORDER_NO_BPF_EVENT = 1 << 26,      /* --no-bpf-event */
    PERFDATA_RECORDER_NO_BUILD_ID = 1 << 27,       /* -B */
    PERFDATA_RECORDER_ALL_BUILD_IDS = 1 << 28,     /* --buildid-all */
    PERFDATA_RECORDER_OVERWRITE =
        1 << 29, /* --overwrite: buffers keep the newest, written at the end */
    PERFDATA_RECORDER_STRICT_FREQUENCY = 1 << 30 /* --strict-freq */
};

/* Since 0.1. */
enum perfdata_call_graph {
    PERFDATA_CALL_GRAPH_NONE = 0,
    PERFDATA_CALL_GRAPH_FP = 1,    /* frame pointers */
    PERFDATA_CALL_GRAPH_DWARF = 2, /* registers and `stack_size` bytes of stack */
    PERFDATA_CALL_GRAPH_LBR = 3    /* the hardware's branch records */
};

/* Which records are made of what runs already. Since 0.1. */
enum perfdata_synthesis {
    PERFDATA_SYNTHESIZE_TASKS = 1,
    PERFDATA_SYNTHESIZE_MAPS = 2,
    PERFDATA_SYNTHESIZE_CGROUPS = 4,
    PERFDATA_SYNTHESIZE_NOTHING = 1 << 30 /* 0 is all */
};

/* Where the thread runs that reads a buffer. Since 0.1. */
enum perfdata_affinity {
    PERFDATA_AFFINITY_NONE = 0,
    PERFDATA_AFFINITY_NODE = 1, /* on the node of the buffer's CPU */
    PERFDATA_AFFINITY_CPU = 2   /* on that CPU */
};

/* Traces that are overwritten until someone asks for them. Since 0.1. */
enum perfdata_snapshot {
    PERFDATA_SNAPSHOT_NONE = 0,
    PERFDATA_SNAPSHOT_ASKED = 1, /* by perfdata_recorder_snapshot() */
    PERFDATA_SNAPSHOT_AT_END = 2 /* and at the end */
};

/* Whose execution events count that do not say it themselves, as with perf kvm; bits. Since 0.1. */
enum perfdata_machines {
    PERFDATA_MACHINES_HOST = 1,
    PERFDATA_MACHINES_GUESTS = 2 /* virtual machines that run on this one */
};

#define PERFDATA_RECORDER_MAX_FREQUENCY UINT32_MAX
#define PERFDATA_RECORDER_NO_CLOCK INT32_MIN

/* Zero is the default of all but struct_size; what is pointed to need not outlive
 * perfdata_recorder_open(), except for `command` and `arguments`. Since 0.1. */
struct perfdata_recorder_options {
    size_t struct_size;
    uint32_t flags;      /* enum perfdata_recorder_flags */
    uint32_t call_graph; /* enum perfdata_call_graph */
    /* Where it goes: a file, or without path a descriptor, which gets a pipe stream. So does a path
     * that names a FIFO or a device: it is opened and never replaced. */
    const char *path;
    int32_t fd;
    int32_t compression; /* zstd level, 1 to 22; 0: none */
    /* Whom to watch; nothing: `command`. */
    const char *cpus, *pids, *tids; /* "0-3,5", "17,18"; NULL: not so */
    const char *const *command;     /* NULL-terminated: started by perfdata_recorder_start() */
    uint32_t has_user, user;        /* tasks of this user id */
    uint64_t period;                /* 0: by frequency */
    uint32_t frequency;  /* 0: 4000, PERFDATA_RECORDER_MAX_FREQUENCY: the most that is allowed */
    uint32_t stack_size; /* 0: 8192 */
    uint32_t pages,
        aux_pages; /* of a buffer, rounded up to a power of two; 0: what the kernel allows */
    int32_t delay; /* milliseconds before events count, -1: until they are enabled */
    uint32_t has_clock;
    int32_t clock;                                /* clockid_t */
    uint32_t synthesize;                          /* enum perfdata_synthesis */
    uint64_t user_registers, interrupt_registers; /* masks */
    uint64_t branch_filter;                       /* PERF_SAMPLE_BRANCH_* */
    const char *const *arguments; /* NULL-terminated, for the header; [0] is the program */
    int32_t watch_fd;             /* wakes perfdata_recorder_read() when it can be read; 0: none */
    /* the header has the times of the first and last sample also without build-ids */
    uint32_t want_times;
    const char *root; /* in front of /sys and /proc, for tests; NULL: this machine */
    /* What -v shows, a line or several at a time, with their newlines; NULL: nobody listens. Level
     * 0: warnings. */
    void (*log)(void *data, int32_t level, const char *text);
    void *log_data;
    /* Threads that read the kernel's buffers, each buffer into a file of its own: `path` is a
     * directory then. "": one a CPU; "core", "package", "numa"; "0,1/0:2,3/2": CPUs and where the
     * thread runs. NULL: the caller's alone. */
    const char *threads;
    uint32_t snapshot; /* enum perfdata_snapshot */
    uint32_t
        aux_sample; /* samples of the events that the one that traces leads carry the trace's end */
    uint64_t snapshot_size;   /* bytes at most of each area; 0: all of it */
    uint32_t aux_sample_size; /* bytes; 0: 4096 */
    uint32_t tail_synthesis;  /* what runs already is said at the end, not at the beginning */
    uint64_t flush;    /* a buffer is read when it has so many bytes; a quarter of it at most */
    uint32_t affinity; /* enum perfdata_affinity */
    uint32_t map_build_ids; /* maps have their build-ids, the header has none */
    uint32_t kcore;         /* `path` is a directory with a copy of the kernel's code */
    uint32_t no_switches;   /* traces go without context switches */
    uint32_t machines;      /* enum perfdata_machines; 0: the host */
    /* With PERFDATA_MACHINES_GUESTS: /proc/kallsyms and /proc/modules of the guest that no process
     * names, and a folder in which PID/proc/kallsyms is that of the guest of PID. NULL: not
     * known. */
    const char *guest_kallsyms, *guest_modules, *guest_mount;
    /* that say what runs already with all CPUs; 0: one. The records are the same */
    uint32_t synthesis_threads;
    /* of 1 MiB that a thread writes while others are filled; 0: all is written at once */
    uint32_t write_blocks;
    uint32_t has_map_timeout,
        map_timeout; /* milliseconds for the maps of a task, which are cut then */
};

/* Since 0.1. */
struct perfdata_recorder_result {
    size_t struct_size;
    uint64_t bytes;                    /* of the recording */
    uint64_t wakeups;                  /* perfdata_recorder_read() that waited */
    uint64_t samples;                  /* in a file whose build-ids were looked for; else 0 */
    uint64_t lost;                     /* records that the kernel told to be lost */
    uint64_t compressed, uncompressed; /* bytes of records of the kernel, with compression */
    int32_t command_status; /* as of waitpid(); -1: no command, or it was not waited for */
    uint32_t reserved;
};

/* What perf's options of these kinds may say, for the members above; PERFDATA_ERROR_ARGUMENT:
 * nothing that we know. Registers: "ax,bx", NULL is all; branches: "any,u"; call graphs: "fp",
 * "dwarf,4096", "lbr"; clocks: "mono", "CLOCK_TAI", "7"; pages: "16" or "1M", "16,128". Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_registers_parse(const char *text, uint64_t *mask);
PERFDATA_API perfdata_status perfdata_branch_filter_parse(const char *text, uint64_t *mask);
PERFDATA_API perfdata_status perfdata_call_graph_parse(const char *text, uint32_t *kind,
                                                       uint32_t *stack_size);
PERFDATA_API perfdata_status perfdata_clock_parse(const char *text, int32_t *clock);
PERFDATA_API perfdata_status perfdata_pages_parse(const char *text, uint32_t *pages,
                                                  uint32_t *aux_pages);

/* *out is set also on failure (NULL only without memory), so that perfdata_recorder_error() can
 * tell more. Since 0.1. */
PERFDATA_API perfdata_status perfdata_recorder_open(const struct perfdata_recorder_options *options,
                                                    perfdata_recorder **out);
/* The events of one -e of perf. PERFDATA_ERROR_ARGUMENT: perf's text is perfdata_recorder_error().
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_recorder_add_events(perfdata_recorder *recorder,
                                                          const char *events);
/* --filter: of the last event that was added, or of the tracepoints of its list. Since 0.1. */
PERFDATA_API perfdata_status perfdata_recorder_set_filter(perfdata_recorder *recorder,
                                                          const char *filter);
/* The control groups whose tasks the events so far watch, as perf's -G: "a,,b" for the first and
 * the third, a single one for all; needs all CPUs. Since 0.1. */
PERFDATA_API perfdata_status perfdata_recorder_set_cgroups(perfdata_recorder *recorder,
                                                           const char *names);
/* Events of all CPUs that are not recorded but counted by perfdata_recorder_triggers(), and wake
 * perfdata_recorder_read(): those of which each one gives a sample, as tracepoints do, or that say
 * a period. Since 0.1. */
PERFDATA_API perfdata_status perfdata_recorder_add_triggers(perfdata_recorder *recorder,
                                                            const char *events);
/* How many of them there were. Since 0.1. */
PERFDATA_API uint64_t perfdata_recorder_triggers(const perfdata_recorder *recorder);
/* Opens everything, writes the recording's beginning, starts the command. Without events: perf's
 * default ones.
 *   PERFDATA_ERROR_ACCESS, _UNSUPPORTED, _ARGUMENT   an event cannot be opened; the error has
 *                                                    perf's text and hints
 *   PERFDATA_ERROR_NOT_FOUND   the command cannot be started, no such process
 *   PERFDATA_ERROR_OUTPUT      the recording cannot be written
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_recorder_start(perfdata_recorder *recorder);
/* Waits at most so long (-1: for ever), then moves what there is to the recording. 1: more may
 * come; 0: all is done (the command has ended, or perfdata_recorder_stop()). Since 0.1. */
PERFDATA_API int perfdata_recorder_read(perfdata_recorder *recorder, int timeout_ms);
/* Bytes of the recording so far. Since 0.1. */
PERFDATA_API uint64_t perfdata_recorder_size(const perfdata_recorder *recorder);
/* Completes the recording so far, a file, under another name and goes on with a new one:
 * --switch-output. Since 0.1. */
PERFDATA_API perfdata_status perfdata_recorder_switch(perfdata_recorder *recorder,
                                                      const char *name);
/* What the areas of traces hold goes to the recording. PERFDATA_ERROR_ARGUMENT: options.snapshot
 * did not ask for it, the recording goes on. Since 0.1. */
PERFDATA_API perfdata_status perfdata_recorder_snapshot(perfdata_recorder *recorder);
/* Since 0.1. */
PERFDATA_API perfdata_status perfdata_recorder_enable(perfdata_recorder *recorder, int on);
/* Ends perfdata_recorder_read() soon. Async-signal-safe. Since 0.1. */
PERFDATA_API void perfdata_recorder_stop(perfdata_recorder *recorder);
/* Completes the recording. `result` may be NULL. Since 0.1. */
PERFDATA_API perfdata_status perfdata_recorder_finish(perfdata_recorder *recorder,
                                                      struct perfdata_recorder_result *result);
/* What was not finished stays as it is; a command that was not started goes. NULL does nothing.
 * Since 0.1. */
PERFDATA_API void perfdata_recorder_close(perfdata_recorder *recorder);
/* What the last failure was; "" when nothing failed. Since 0.1. */
PERFDATA_API const char *perfdata_recorder_error(const perfdata_recorder *recorder);

#ifdef __cplusplus
}
#endif
#endif
