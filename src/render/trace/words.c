/* SPDX-License-Identifier: MIT */
/* How arguments of system calls are shown: as addresses, words of a list, or flags. What is in no
 * table is shown as a number. */
#include "render/trace/commands.h"
#include "render/trace/syscall.h"
#include <stdlib.h>

enum kind {
    NUMBER,           /* an int */
    ADDRESS,          /* hexadecimal, NULL */
    SHORT,            /* its lower half */
    LIST,             /* a word, else a number; also where it is 0 */
    QUIET_LIST,       /* the same, 0 is not shown */
    HEX_LIST,         /* the same, else hexadecimal */
    FLAGS,            /* words of bits, then those without a word */
    BITS,             /* the same from a table of bits: see put_bits */
    REST,             /* only the bits that have no word: perf loses the words */
    MOUNT_ATTRIBUTES, /* bits, one of them a field of its own */
    ACCESS,
    CONTROL,
    DIRECTORY,
    FILE_ARGUMENT,
    HEX, /* 0 is a 0 */
    FUTEX,
    LOCK,
    MASK,
    OPEN,
    POLICY,
    PROTOCOL,
    SOCKET_TYPE,
    SYNCHRONISE,
    TASK_ARGUMENT
};

#define SIGNALS                                                                                    \
    "- HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT "    \
    "STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS"
#define PROTECTION "=NONE READ WRITE EXEC SEM @24 GROWSDOWN GROWSUP"
#define MESSAGE_FLAGS                                                                              \
    "=NONE OOB PEEK DONTROUTE CTRUNC PROBE TRUNC DONTWAIT EOR WAITALL FIN SYN CONFIRM RST "        \
    "ERRQUEUE NOSIGNAL MORE WAITFORONE SENDPAGE_NOTLAST @29 FASTOPEN CMSG_CLOEXEC"
#define SOCKET_FAMILIES                                                                            \
    "UNSPEC LOCAL INET AX25 IPX APPLETALK NETROM BRIDGE ATMPVC X25 INET6 ROSE DECnet NETBEUI "     \
    "SECURITY KEY NETLINK PACKET ASH ECONET ATMSVC RDS SNA IRDA PPPOX WANPIPE LLC IB MPLS CAN "    \
    "TIPC BLUETOOTH IUCV RXRPC ISDN PHONET IEEE802154 CAIF ALG NFC VSOCK KCM QIPCRTR SMC XDP MCTP"
#define SOCKET_TYPES "- STREAM DGRAM RAW RDM SEQPACKET DCCP @10 PACKET"
#define SOCKET_LEVELS                                                                              \
    "IP @6 TCP @17 UDP @41 IPV6 @58 ICMPV6 @132 SCTP @136 UDPLITE @255 RAW IPX AX25 ATALK NETROM " \
    "ROSE DECNET X25 PACKET ATM AAL IRDA NETBEUI LLC DCCP NETLINK TIPC RXRPC PPPOL2TP BLUETOOTH "  \
    "PNPIPE RDS IUCV CAIF ALG NFC KCM TLS XDP MPTCP MCTP SMC"
#define PROTOCOLS                                                                                  \
    "IP ICMP IGMP @4 IPIP @6 TCP @8 EGP @12 PUP @17 UDP @22 IDP @29 TP @33 DCCP @41 IPV6 @46 "     \
    "RSVP GRE @50 ESP AH @92 MTP @94 BEETPH @98 ENCAP @103 PIM @108 COMP @115 L2TP @132 SCTP "     \
    "@136 UDPLITE MPLS @143 ETHERNET @255 RAW @262 MPTCP"
#define MAP_FLAGS                                                                                  \
    "SHARED PRIVATE - - FIXED ANONYMOUS "                                                          \
    "32BIT - GROWSDOWN - - DENYWRITE EXECUTABLE LOCKED NORESERVE " MAP_FLAGS_ABOVE
#define MAP_FLAGS_POWERPC                                                                          \
    "SHARED PRIVATE - - FIXED ANONYMOUS NORESERVE LOCKED GROWSDOWN - - DENYWRITE EXECUTABLE - "    \
    "- " MAP_FLAGS_ABOVE
#define MAP_FLAGS_ABOVE "POPULATE NONBLOCK STACK HUGETLB SYNC FIXED_NOREPLACE"
struct pd_syscall_row {
    const char *call, *argument, *words;
    enum kind kind;
    bool on_powerpc; /* only there, instead of the next row */
};

static const struct pd_syscall_row rows[] = {
#define ARGUMENT(call, argument, kind, words) { #call, #argument, words, kind, false },
#define ON_POWERPC(call, argument, kind, words) { #call, #argument, words, kind, true },
#include "render/trace/words.def"
};

const struct pd_syscall_row *pd_syscall_row(const struct pd_syscall *syscall, const char *argument)
{
    for (size_t i = 0; i < PD_LENGTH(rows); i++)
        if (!strcmp(rows[i].call, syscall->like) && !strcmp(rows[i].argument, argument) &&
            (!rows[i].on_powerpc || syscall->machine->is_powerpc))
            return &rows[i];
    return NULL;
}

/* ---- words ---- */

struct word {
    const char *text;
    size_t length; /* 0: there is no further one */
    uint64_t value;
};

/* The next word of a list, with its number. `next` begins as the number 0; numbers without a word
 * are skipped. */
static struct word take_word(const char **at, uint64_t *next)
{
    while (**at) {
        const char *text = *at;
        size_t length = strcspn(text, " ");
        *at = text + length + (text[length] == ' ');
        if (*text == '@')
            *next = strtoull(text + 1, NULL, 10);
        else if (*text == '-')
            ++*next;
        else if (*text != '=')
            return (struct word){ text, length, (*next)++ };
    }
    return (struct word){ 0 };
}

static bool put_word(const char *words, uint64_t value, struct pd_text *out)
{
    uint64_t next = 0;
    for (struct word word = take_word(&words, &next); word.length;
         word = take_word(&words, &next)) {
        if (word.value != value)
            continue;
        pd_text_bytes(out, word.text, word.length);
        return true;
    }
    return false;
}

static void put_list(const char *words, uint64_t value, struct pd_text *out)
{
    if (!put_word(words, (uint32_t)value, out))
        pd_text_format(out, "%d", (int)value);
}

static void put_hex_list(const char *words, uint64_t value, struct pd_text *out)
{
    if (!put_word(words, (uint32_t)value, out))
        pd_text_format(out, "%#x", (unsigned)value);
}

static void put_address(uint64_t value, struct pd_text *out)
{
    if (value)
        pd_text_format(out, "%#llx", (unsigned long long)value);
    else
        pd_text_string(out, "NULL");
}

static void put_bar(struct pd_text *out, size_t from)
{
    if (out->length > from)
        pd_text_char(out, '|');
}

/* Puts the bits that have no word, behind what was put since `from`. */
static void put_rest(struct pd_text *out, size_t from, uint64_t value)
{
    if (!(uint32_t)value)
        return;
    put_bar(out, from);
    pd_text_format(out, "%#x", (unsigned)value);
}

/* Puts the words of bits, and returns the bits that have no word. */
static uint64_t put_known_flags(const char *words, uint64_t value, struct pd_text *out, size_t from)
{
    uint64_t next = 0;
    for (struct word word = take_word(&words, &next); word.length;
         word = take_word(&words, &next)) {
        uint64_t bit = UINT64_C(1) << (word.value & 63);
        if (!(value & bit))
            continue;
        put_bar(out, from);
        pd_text_bytes(out, word.text, word.length);
        value &= ~bit;
    }
    return value;
}

/* Puts the word for flags without any bit. */
static void put_none(const char *words, const char *otherwise, struct pd_text *out)
{
    if (*words == '=')
        pd_text_bytes(out, words + 1, strcspn(words + 1, " "));
    else
        pd_text_string(out, otherwise);
}

static void put_flags(const char *words, uint64_t value, struct pd_text *out)
{
    size_t from = out->length;
    if (!(uint32_t)value && *words == '=') {
        put_none(words, "", out);
        return;
    }
    uint64_t rest = put_known_flags(words, value, out, from);
    put_rest(out, from, rest);
}

/* Puts words from a table of bits. For a bit without a word, perf writes "0x", goes back by one
 * character more than that, and writes on from there, so that these characters are seen only if
 * nothing follows. Bits beyond the table are not shown. */
static void put_bits(const char *words, uint64_t value, struct pd_syscall_text *out)
{
    static const char unknown[] = "0x";
    struct pd_text *text = &out->text;
    uint64_t next = 0, bit = 0;
    bool any = false;
    if (!value) {
        put_none(words, "0", text);
        return;
    }
    for (struct word word = take_word(&words, &next); word.length;
         word = take_word(&words, &next)) {
        for (; bit <= word.value; bit++) {
            if (!(value >> bit & 1))
                continue;
            pd_text_string(text, any ? "|" : "");
            any = true;
            if (bit == word.value) {
                pd_text_bytes(text, word.text, word.length);
                continue;
            }
            pd_text_string(text, unknown);
            if (text->failed)
                return;
            text->length -= sizeof unknown;
            out->hanging = text->length;
        }
    }
}

/* ---- arguments of one kind ---- */

struct mode {
    unsigned bits;
    const char *text;
};

/* Puts a mode. Each word stands for all of its bits; words with many bits come first. */
static void put_mode(uint64_t value, struct pd_text *out)
{
    static const struct mode modes[] = {
        { 07777, "IALLUGO" }, { 0777, "IRWXUGO" },  { 0444, "IRUGO" },     { 0222, "IWUGO" },
        { 0111, "IXUGO" },    { 0170000, "IFMT" },  { 0140000, "IFSOCK" }, { 0120000, "IFLNK" },
        { 0100000, "IFREG" }, { 0060000, "IFBLK" }, { 0040000, "IFDIR" },  { 0020000, "IFCHR" },
        { 0010000, "IFIFO" }, { 04000, "ISUID" },   { 02000, "ISGID" },    { 01000, "ISVTX" },
        { 0700, "IRWXU" },    { 0400, "IRUSR" },    { 0200, "IWUSR" },     { 0100, "IXUSR" },
        { 070, "IRWXG" },     { 040, "IRGRP" },     { 020, "IWGRP" },      { 010, "IXGRP" },
        { 07, "IRWXO" },      { 04, "IROTH" },      { 02, "IWOTH" },       { 01, "IXOTH" }
    };
    size_t from = out->length;
    uint32_t rest = (uint32_t)value;
    for (size_t i = 0; i < PD_LENGTH(modes); i++) {
        if ((rest & modes[i].bits) != modes[i].bits)
            continue;
        put_bar(out, from);
        pd_text_string(out, modes[i].text);
        rest &= ~modes[i].bits;
    }
    put_rest(out, from, rest);
}

static void put_access(uint64_t value, struct pd_text *out)
{
    if (!(uint32_t)value) {
        pd_text_char(out, 'F');
        return;
    }
    pd_text_string(out, value & 4 ? "R" : "");
    pd_text_string(out, value & 2 ? "W" : "");
    pd_text_string(out, value & 1 ? "X" : "");
    if ((uint32_t)value & ~7u)
        pd_text_format(out, "|%#x", (unsigned)value & ~7u);
}

/* perf knows the bit of LARGEFILE only where it is the generic one. */
static void put_open(const struct pd_syscall *syscall, uint64_t value, struct pd_text *out)
{
    enum { WAYS = 3, DATA_ONLY = 0x1000, WHOLE = 0x101000 };
#define OPEN_FLAGS(direct, directory, large, no_follow)                                            \
    "@1 RDWR @10 APPEND @13 ASYNC @19 CLOEXEC @6 CREAT @" #direct " DIRECT @" #directory           \
    " DIRECTORY @7 EXCL " large "@" #no_follow " NOFOLLOW @22 TMPFILE @18 NOATIME @8 NOCTTY "      \
    "@11 NONBLOCK @21 PATH"
    static const char *const by_machine[] = {
        [PD_OPEN_GENERIC] = OPEN_FLAGS(14, 16, "@15 LARGEFILE ", 17),
        [PD_OPEN_ARM] = OPEN_FLAGS(16, 14, "", 15),
        [PD_OPEN_POWERPC] = OPEN_FLAGS(17, 14, "", 15),
    };
    const char *before = by_machine[syscall->machine->open_flags];
    size_t from = out->length;
    if (!(value & WAYS))
        pd_text_string(out, "RDONLY");
    if (!(uint32_t)value)
        return;
    uint64_t rest = put_known_flags(before, value, out, from);
    if ((rest & WHOLE) == WHOLE) { /* perf leaves these bits in the rest */
        put_bar(out, from);
        pd_text_string(out, "SYNC");
    } else if (rest & DATA_ONLY) {
        put_bar(out, from);
        pd_text_string(out, "DSYNC");
        rest &= ~(uint64_t)DATA_ONLY;
    }
    rest = put_known_flags("@9 TRUNC @0 WRONLY", rest, out, from);
    put_rest(out, from, rest);
}

static void put_futex(const char *words, uint64_t value, struct pd_text *out)
{
    enum { PRIVATE = 0x80, REALTIME = 0x100 };
    put_hex_list(words, value & ~(uint64_t)(PRIVATE | REALTIME), out);
    pd_text_string(out, value & PRIVATE ? "|PRIVATE_FLAG" : "");
    pd_text_string(out, value & REALTIME ? "|CLOCK_REALTIME" : "");
}

/* Puts a word for the lower bits, then flags. */
static void put_typed(const char *words, uint64_t lower, const char *flags, uint64_t value,
                      struct pd_text *out)
{
    size_t from = out->length;
    put_hex_list(words, value & lower, out);
    uint64_t rest = put_known_flags(flags, value & ~lower, out, from);
    put_rest(out, from, rest);
}

static void put_lock(const char *words, uint64_t value, struct pd_text *out)
{
    enum { READ = 0x40, WRITE = 0x80 };
    size_t from = out->length;
    if (!(uint32_t)value) {
        put_flags(words, value, out);
        return;
    }
    uint64_t rest = put_known_flags(words, value, out, from);
    if (rest & (READ | WRITE)) {
        put_bar(out, from);
        pd_text_string(out, (rest & READ) && (rest & WRITE) ? "RW"
                            : rest & READ                   ? "READ"
                                                            : "WRITE");
    }
    put_rest(out, from, rest & ~(uint64_t)(READ | WRITE));
}

static void put_mount_attributes(const char *words, uint64_t value, struct pd_syscall_text *out)
{
    enum { ACCESS_TIMES = 0x70 };
    bool any = value & ~(uint64_t)ACCESS_TIMES;
    if (any)
        put_bits(words, value, out);
    else if (value)
        return;
    if (!(value & ACCESS_TIMES))
        pd_text_string(&out->text, (uint32_t)value & ((1u << 22) - 1) ? "|RELATIME" : "RELATIME");
}

static void put_synchronise(const char *words, uint64_t value, struct pd_syscall_text *out)
{
    enum { ALL = 7 };
    if ((value & ALL) == ALL) {
        pd_text_string(&out->text, "WRITE_AND_WAIT");
        value &= ~(uint64_t)ALL;
    }
    if (!(uint32_t)value)
        pd_text_char(&out->text, '0');
    else
        put_bits(words, value, out);
}

/* Puts an ioctl's command by its name, or where it has none by its parts. */
static void put_control(bool is_powerpc, uint64_t value, struct pd_text *out)
{
    static const struct {
        uint8_t type;
        const char *prefix, *words;
    } types[] = {
#define CONTROLS(type, prefix, words) { type, prefix, words },
#include "render/trace/controls.def"
    };
    static const char *const directions[] = { "NONE", "WRITE", "READ", "READ|WRITE" };
    static const uint8_t powerpc_directions[] = { 0, 0, 2, 2, 1, 1, 3, 3 };
    uint8_t type = (uint8_t)(value >> 8), number = (uint8_t)value;
    for (size_t i = 0; i < PD_LENGTH(types); i++) {
        size_t from = out->length;
        if (types[i].type != type)
            continue;
        pd_text_string(out, types[i].prefix);
        if (put_word(types[i].words, number, out))
            return;
        out->length = from;
    }
    unsigned direction = is_powerpc ? powerpc_directions[value >> 29 & 7] : value >> 30 & 3;
    pd_text_format(out, "(%s, %#x, %#x, %#x)", directions[direction], type, number,
                   (unsigned)(value >> 16 & (is_powerpc ? 0x1fff : 0x3fff)));
}

static void put_task(uint64_t value, const struct pd_task_names *names, struct pd_text *out)
{
    const char *name = names->name(names->data, (uint32_t)value);
    pd_text_format(out, "%d", (int)value);
    if (name)
        pd_text_format(out, " (%s)", name);
}

static void put_lease(uint64_t value, struct pd_text *out)
{
    if (!put_word("RDLCK WRLCK UNLCK", (uint32_t)value, out))
        pd_text_format(out, "%x", (unsigned)value);
}

static void put_file_argument(const struct pd_syscall *syscall, const uint64_t *values,
                              const struct pd_task_names *names, struct pd_text *out)
{
    uint64_t command = values[1], value = values[2];
    if (command == SETFD) /* perf looks the word up the wrong way round */
        pd_text_string(out, value ? "0" : "CLOEXEC");
    else if (command == SETFL)
        put_open(syscall, value, out);
    else if (command == SETOWN)
        put_task(value, names, out);
    else if (command == SETLEASE)
        put_lease(value, out);
    else if ((command >= GETLK && command <= SETLKW) || command == SETOWN_EX ||
             command == GETOWN_EX || (command >= GET_RW_HINT && command <= SET_FILE_RW_HINT))
        pd_text_format(out, "%#llx", (unsigned long long)value);
    else
        pd_text_format(out, "%d", (int)value);
}

/* Puts a number of the size of the machine's `long`. */
static void put_long(const struct pd_syscall *syscall, uint64_t value, struct pd_text *out)
{
    pd_text_i64(out, syscall->machine->word < 8 ? (int32_t)value : (int64_t)value, 0);
}

static void put_task_argument(const struct pd_syscall *syscall, unsigned index, const char *words,
                              const uint64_t *values, struct pd_text *out)
{
    uint64_t value = values[index];
    bool is_address = values[0] == (index == 1 ? SET_NAME : SET_MM);
    if (index == 1 && values[0] == SET_MM)
        put_list(words, value, out);
    else if (is_address)
        pd_text_format(out, "%#llx", (unsigned long long)value);
    else
        put_long(syscall, value, out);
}

static void put_directory(uint64_t value, struct pd_text *out)
{
    enum { CURRENT = -100 };
    if ((int)value == CURRENT)
        pd_text_string(out, "CWD");
    else
        pd_text_format(out, "%d", (int)value);
}

static void put_protocol(const char *words, const uint64_t *values, struct pd_text *out)
{
    enum { INET = 2, INET6 = 10 };
    uint32_t family = (uint32_t)values[0];
    if ((family != INET && family != INET6) || !put_word(words, (uint32_t)values[2], out))
        pd_text_format(out, "%d", (int)values[2]);
}

static void put_row(const struct pd_syscall *syscall, unsigned index, const uint64_t *values,
                    const struct pd_task_names *names, struct pd_syscall_text *to)
{
    const struct pd_syscall_row *row = syscall->arguments[index].row;
    struct pd_text *out = &to->text;
    uint64_t value = values[index], rest;
    char *word;
    switch (row->kind) {
    case NUMBER: pd_text_format(out, "%d", (int)value); break;
    case ADDRESS: put_address(value, out); break;
    case HEX: pd_text_format(out, "%#llx", (unsigned long long)value); break;
    case SHORT: pd_text_format(out, "%#x", (unsigned)value); break;
    case LIST:
    case QUIET_LIST: put_list(row->words, value, out); break;
    case HEX_LIST: put_hex_list(row->words, value, out); break;
    case FLAGS: put_flags(row->words, value, out); break;
    case BITS: put_bits(row->words, value, to); break;
    case REST:
        rest = value & ~strtoull(row->words, &word, 16);
        pd_text_string(out, value ? "" : word + (*word == ' '));
        put_rest(out, out->length, rest);
        break;
    case MOUNT_ATTRIBUTES: put_mount_attributes(row->words, value, to); break;
    case ACCESS: put_access(value, out); break;
    case CONTROL: put_control(syscall->machine->is_powerpc, value, out); break;
    case DIRECTORY: put_directory(value, out); break;
    case FILE_ARGUMENT: put_file_argument(syscall, values, names, out); break;
    case FUTEX: put_futex(row->words, value, out); break;
    case LOCK: put_lock(row->words, value, out); break;
    case MASK: /* the letter is perf's */
        if ((uint32_t)value == UINT32_MAX)
            pd_text_string(out, "MATCH_ANY");
        else
            pd_text_format(out, "%#xd", (unsigned)value);
        break;
    case OPEN: put_open(syscall, value, out); break;
    case POLICY: put_typed(row->words, 0xff, "@30 RESET_ON_FORK", value, out); break;
    case PROTOCOL: put_protocol(row->words, values, out); break;
    case SOCKET_TYPE: put_typed(row->words, 0xf, "@19 CLOEXEC @11 NONBLOCK", value, out); break;
    case SYNCHRONISE: put_synchronise(row->words, value, to); break;
    case TASK_ARGUMENT: put_task_argument(syscall, index, row->words, values, out); break;
    }
}

/* ---- arguments by their type ---- */

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && !strcmp(name + length - tail, end);
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

/* Calls whose folder is shown as a number even if it is the current one. */
static bool names_no_folder(const struct pd_syscall *syscall, const char *argument)
{
    static const char *const calls[] = { "faccessat", "faccessat2", "fanotify_mark",
                                         "open_tree", "openat2",    "mount_setattr",
                                         NULL };
    static const char *const new_one[] = { "linkat", "symlinkat", NULL };
    return is_one_of(syscall->like, calls) ||
           (!strcmp(argument, "newdfd") && is_one_of(syscall->like, new_one));
}

static void put_by_type(const struct pd_syscall *syscall,
                        const struct pd_syscall_argument *argument, uint64_t value,
                        const struct pd_task_names *names, struct pd_text *out)
{
    const char *type = argument->type, *name = argument->name;
    bool is_int = !strcmp(type, "int") || !strcmp(type, "unsigned int");
    bool is_folder = (ends_with(name, "dfd") && strcmp(name, "oldfd") != 0) ||
                     !strcmp(name, "mountdirfd");
    if (!strcmp(type, "umode_t"))
        put_mode(value, out);
    else if (!strcmp(type, "pid_t"))
        put_task(value, names, out);
    else if (is_int && is_folder && !ends_with(name, "pidfd") && !names_no_folder(syscall, name))
        put_directory(value, out);
    else if (is_int && ends_with(name, "fd"))
        pd_text_format(out, "%d", (int)value);
    else if (!strcmp(type, "const char *") && (ends_with(name, "name") || ends_with(name, "path")))
        pd_text_format(out, "%#x", (unsigned)value); /* perf has room for half of it only */
    else if (strchr(type, '*') || !strcmp(name, "addr"))
        put_address(value, out);
    else
        put_long(syscall, value, out);
}

bool pd_syscall_put_argument(const struct pd_syscall *syscall, unsigned index,
                             const uint64_t *values, const struct pd_task_names *names,
                             struct pd_syscall_text *out)
{
    const struct pd_syscall_argument *argument = &syscall->arguments[index];
    const struct pd_syscall_row *row = argument->row;
    bool zeros = out->zeros || out->no_names;
    if (pd_syscall_unread(syscall, values, zeros) >> index & 1 ||
        (!values[index] && !zeros && !(row && row->kind == LIST)))
        return false;
    if (!out->no_names) {
        pd_text_string(&out->text, argument->name);
        pd_text_string(&out->text, ": ");
    }
    if (row)
        put_row(syscall, index, values, names, out);
    else
        put_by_type(syscall, argument, values[index], names, &out->text);
    return true;
}

/* ---- results ---- */

int64_t pd_syscall_result(const struct pd_syscall *syscall, uint64_t value)
{
    enum { ERRORS = 4096 };
    bool is_narrow = syscall->machine->word < 8;
    return is_narrow && (int32_t)value <= -ERRORS ? (int64_t)(uint32_t)value : (int64_t)value;
}

bool pd_syscall_returns_address(const struct pd_syscall *syscall)
{
    static const char *const names[] = { "brk", "mmap", "mmap2", "mremap", NULL };
    return is_one_of(syscall->like, names);
}

bool pd_syscall_returns_task(const struct pd_syscall *syscall)
{
    static const char *const names[] = { "clone",           "getpgid", "getppid", "gettid",
                                         "set_tid_address", "wait4",   "waitid",  NULL };
    return is_one_of(syscall->like, names);
}

bool pd_syscall_times_out(const struct pd_syscall *syscall)
{
    static const char *const names[] = { "poll", "ppoll", "select", NULL };
    return is_one_of(syscall->like, names);
}

bool pd_syscall_put_result(const struct pd_syscall *syscall, const uint64_t *values, int64_t result,
                           const struct pd_task_names *names, struct pd_text *out)
{
    if (strcmp(syscall->like, "fcntl") != 0 || result < 0)
        return false;
    if (values[1] == GETFL)
        put_open(syscall, (uint64_t)result, out);
    else if (values[1] == GETFD)
        pd_text_string(out, result ? "0" : "CLOEXEC"); /* perf has it the wrong way round */
    else if (values[1] == GETLEASE)
        put_lease((uint64_t)result, out);
    else if (values[1] == GETOWN)
        put_task((uint64_t)result, names, out);
    else
        pd_text_format(out, "%d", (int)result);
    return true;
}
