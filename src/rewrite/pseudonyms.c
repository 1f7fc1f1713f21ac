/* SPDX-License-Identifier: MIT */
/* A name -> a pseudonym of its length. */
#include "rewrite/pseudonyms.h"
#include <ctype.h>

enum { TRIES = 64 };

static void spell(uint64_t hash, char *name, size_t length)
{
    static const char consonants[] = "bcdfghjklmnpqrstvwxz", vowels[] = "aeiou";
    for (size_t i = 0; i < length; i++) {
        hash = pd_digest64(hash + i + 1);
        name[i] = i % 2 ? vowels[hash % 5] : consonants[hash % 20];
    }
}

/* A name that no other has, where the length gives enough of them. */
static void rename_part(struct pd_pseudonyms *p, char *name, size_t length)
{
    uint64_t hash = pd_digest(name, length, p->seed);
    uint32_t known = pd_map64_get(&p->names, hash), owner = (uint32_t)hash & INT32_MAX;
    for (uint32_t attempt = known == PD_MAP64_NONE ? 0 : known;; attempt++) {
        spell(hash + attempt, name, length);
        uint64_t made = pd_digest(name, length, 1);
        uint32_t before = pd_map64_get(&p->taken, made);
        if (known == PD_MAP64_NONE && before != PD_MAP64_NONE && before != owner && attempt < TRIES)
            continue;
        if (known == PD_MAP64_NONE)
            p->no_memory |= !pd_map64_set(&p->names, hash, attempt) ||
                            !pd_map64_set(&p->taken, made, owner);
        return;
    }
}

/* Whether `tail` is a library's version or a module's packing: ".6", ".1.2", ".xz". */
static bool tells_kind(const char *tail, size_t length, bool module)
{
    static const char *const packings[] = { "", ".gz", ".xz", ".zst" };
    for (size_t i = 0; module && i < PD_LENGTH(packings); i++)
        if (length == strlen(packings[i]) && !memcmp(tail, packings[i], length))
            return true;
    for (size_t i = 0; !module && i < length; i++) {
        bool digit = isdigit((unsigned char)tail[i]);
        bool dot = tail[i] == '.' && i + 1 < length && isdigit((unsigned char)tail[i + 1]);
        if (!digit && !dot)
            return false;
    }
    return !module && (!length || *tail == '.');
}

/* What tells readers what a file is stays: ".so.6", ".ko.xz". */
static size_t stem_length(const char *name, size_t length)
{
    for (size_t i = 1; i + 3 <= length; i++) {
        bool library = !memcmp(name + i, ".so", 3), module = !memcmp(name + i, ".ko", 3);
        if ((library || module) && tells_kind(name + i + 3, length - i - 3, module))
            return i;
    }
    return length;
}

static void rename_path(struct pd_pseudonyms *p, char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        const char *slash = memchr(text + at, '/', length - at);
        size_t size = slash ? (size_t)(slash - (text + at)) : length - at;
        if (size)
            rename_part(p, text + at, stem_length(text + at, size));
        at += size + 1;
    }
}

/* `#` stands for digits, `%` for eight hexadecimal ones. */
static bool matches(const char *pattern, const char *name, size_t length)
{
    size_t at = 0;
    for (; *pattern; pattern++) {
        size_t from = at;
        if (*pattern == '#')
            while (at < length && isdigit((unsigned char)name[at]))
                at++;
        else if (*pattern == '%')
            while (at < length && at < from + 8 && isxdigit((unsigned char)name[at]))
                at++;
        else
            at += at < length && name[at] == *pattern;
        if (at == from || (*pattern == '%' && at != from + 8))
            return false;
    }
    return at == length;
}

/* All names that the kernel and perf give which tell nothing of the host and which readers know.
 * The list is closed on purpose: a program can give its threads, files and memory names that look
 * much like these. */
static bool is_common(const char *name, size_t length)
{
    static const char *const common[] = {
        /* threads */
        "swapper", "swapper/#",
        /* the kernel's map, with the symbol that tells where it begins */
        "[kernel]", "[kernel.vmlinux]", "[kernel.kallsyms]", "[kernel.kallsyms]_text",
        "[kernel.kallsyms]_stext", "[guest.kernel.kallsyms]", "[guest.kernel.kallsyms]_text",
        "[guest.kernel.kallsyms]_stext", "[guest.kernel.kallsyms.#]",
        "[guest.kernel.kallsyms.#]_text", "[guest.kernel.kallsyms.#]_stext",
        /* what the kernel maps into a process */
        "[vdso]", "[vdso32]", "[vdsox32]", "[vvar]", "[vvar_vclock]", "[vsyscall]", "[vectors]",
        "[sigpage]", "[uprobes]", "[heap]", "[stack]", "[stack:#]", "[unknown]",
        /* memory without a file */
        "//anon", "//toolong", "//enomem", "/dev/zero", "/anon_hugepage", "/SYSV%",
        "anon_inode:[perf_event]", "anon_inode:[io_uring]", "anon_inode:[eventfd]",
        "anon_inode:[userfaultfd]", "anon_inode:bpf-map", "anon_inode:kvm-vcpu:#"
    };
    for (size_t i = 0; i < PD_LENGTH(common); i++)
        if (matches(common[i], name, length))
            return true;
    return false;
}

static bool begins(const char *name, size_t length, const char *with)
{
    size_t size = strlen(with);
    return length >= size && !memcmp(name, with, size);
}

void pd_pseudonym(struct pd_pseudonyms *p, char *name, size_t length)
{
    static const char deleted[] = " (deleted)";
    static const char *const marks[] = { "[anon:", "[anon_shmem:", "/memfd:", "anon_inode:", "[" };
    size_t size = sizeof deleted - 1;
    if (length > size && !memcmp(name + length - size, deleted, size))
        length -= size;
    if (is_common(name, length))
        return;
    for (size_t i = 0; i < PD_LENGTH(marks); i++) {
        if (!begins(name, length, marks[i]))
            continue;
        name += strlen(marks[i]);
        length -= strlen(marks[i]);
        length -= *marks[i] == '[' && length && name[length - 1] == ']';
        break;
    }
    rename_path(p, name, length);
}

void pd_pseudonyms_free(struct pd_pseudonyms *p)
{
    pd_map64_free(&p->names);
    pd_map64_free(&p->taken);
}
