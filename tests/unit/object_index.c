/* SPDX-License-Identifier: MIT */
/* Indexes of symbols: what a table answers from a file is what it answered when it was built, and a
 * file that is damaged, forged, another's or of something else is none. */
#include "object/index/folder.h"
#include "object/symtab/mapped.h"
#include "test.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char root[] = "/tmp/perfdata-index-XXXXXX";
static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static struct pd_symbol_image_key key_of(const char *text)
{
    return pd_symbol_image_key(folder, "object", text, strlen(text));
}

/* Symbols of any sizes, so that some overlap, and two names that are read otherwise. */
static struct pd_symtab *build(size_t count, bool overlap)
{
    struct pd_symtab_builder *builder = pd_symtab_builder_new(PD_DEMANGLE_PLAIN);
    uint32_t random = 7;

    CHECK(builder != NULL);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        random = random * 1103515245 + 12345;
        snprintf(name, sizeof name, i % 5 ? "function_%zu" : "_ZN2ns4name%zuEv", i);
        CHECK(pd_symtab_add(builder, (uint64_t)(random >> 16) % 4096 * 16,
                            overlap ? (random >> 8) % 200 : 16, (uint8_t)(i % 3), (uint8_t)(i % 3),
                            name, strlen(name)));
    }
    CHECK(pd_symtab_fix_ends(builder, false) && pd_symtab_fix_duplicates(builder));
    struct pd_symtab *table = pd_symtab_finish(builder);
    if (!table)
        abort();
    return table;
}

static void compare_symbols(const struct pd_symbol *a, const struct pd_symbol *b)
{
    if (!a || !b) {
        CHECK(a == b);
        return;
    }
    CHECK(a->start == b->start && a->end == b->end && a->name_length == b->name_length &&
          a->index == b->index && a->binding == b->binding && a->type == b->type);
    CHECK_STR(a->name, b->name);
}

static struct pd_symtab *mapped(const struct pd_symbol_image_key *key)
{
    struct pd_symbol_image *image = pd_symbol_image_open(key);
    struct pd_symtab *table = image ? pd_symtab_map(image, PD_DEMANGLE_PLAIN) : NULL;

    pd_symbol_image_free(image);
    return table;
}

static void test_same_answers(size_t count, bool overlap)
{
    const uint64_t facts[PD_SYMBOL_IMAGE_FACTS] = { 1, 2, 3, UINT64_MAX };
    const struct pd_symbol_image_key key = key_of(overlap ? "overlap" : "plain");
    struct pd_symtab *built = build(count, overlap);

    pd_symtab_save(built, &key, facts);
    struct pd_symbol_image *image = pd_symbol_image_open(&key);
    CHECK(image && image->facts[3] == UINT64_MAX && (image->reach != NULL) == overlap);
    pd_symbol_image_free(image);
    struct pd_symtab *table = mapped(&key);
    if (!table)
        abort();
    CHECK_U64(pd_symtab_count(table), pd_symtab_count(built));
    for (uint64_t address = 0; address < 66000; address += 3) {
        compare_symbols(pd_symtab_find(table, address), pd_symtab_find(built, address));
        const struct pd_symbol_span a = pd_symtab_find_span(table, address);
        const struct pd_symbol_span b = pd_symtab_find_span(built, address);
        compare_symbols(a.symbol, b.symbol);
        CHECK(a.from == b.from && a.size == b.size);
        const char *name = b.symbol ? b.symbol->name : "none";
        for (uint64_t first = address - address % 1000; first < 66000; first += 11000)
            CHECK(pd_symtab_may_find(table, first, first + 999, name) ==
                  pd_symtab_may_find(built, first, first + 999, name));
        CHECK(!b.symbol || pd_symtab_may_find(table, address, address, name));
    }
    for (size_t i = 0; i <= pd_symtab_count(built); i++)
        compare_symbols(pd_symtab_at(table, i), pd_symtab_at(built, i));
    pd_symtab_free(table);
    pd_symtab_free(built);
    const struct pd_symbol_image_key other = key_of("something else");
    CHECK(!pd_symbol_image_open(&other));
}

/* ---- files that are not what was written ---- */

static uint8_t *read_whole(const char *name, size_t *size)
{
    struct stat st;
    FILE *file = fopen(in_folder(name), "rb");

    if (!file || fstat(fileno(file), &st))
        abort();
    *size = (size_t)st.st_size;
    uint8_t *bytes = malloc(*size);
    if (!bytes || fread(bytes, 1, *size, file) != *size)
        abort();
    fclose(file);
    return bytes;
}

static void write_whole(const char *name, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(in_folder(name), "wb");

    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
        abort();
}

static bool is_image(const struct pd_symbol_image_key *key)
{
    struct pd_symbol_image *image = pd_symbol_image_open(key);

    pd_symbol_image_free(image);
    return image != NULL;
}

static void test_damage(void)
{
    const uint64_t facts[PD_SYMBOL_IMAGE_FACTS] = { 0 };
    const struct pd_symbol_image_key key = key_of("damage");
    struct pd_symtab *built = build(60, true);
    size_t size;

    pd_symtab_save(built, &key, facts);
    pd_symtab_free(built);
    uint8_t *bytes = read_whole(key.name, &size);
    for (size_t length = 0; length < size; length += 1 + length / 50) {
        write_whole(key.name, bytes, length);
        CHECK(!is_image(&key));
    }
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 1;
        write_whole(key.name, bytes, size);
        CHECK(!is_image(&key));
        bytes[i] ^= 1;
    }
    write_whole(key.name, bytes, size);
    CHECK(is_image(&key));
    free(bytes);
}

/* With a sum that is right all else may be wrong: there is no access outside and an end. */
static void test_forged(void)
{
    const uint64_t facts[PD_SYMBOL_IMAGE_FACTS] = { 0 };
    const struct pd_symbol_image_key key = key_of("forged");
    struct pd_symtab *built = build(60, true);
    uint32_t random = 99, taken = 0;
    size_t size;

    pd_symtab_save(built, &key, facts);
    pd_symtab_free(built);
    uint8_t *bytes = read_whole(key.name, &size), *forged = malloc(size);
    if (!forged)
        abort();
    for (unsigned round = 0; round < 4000; round++) {
        memcpy(forged, bytes, size);
        for (unsigned change = 0; change < 1 + round % 4; change++) {
            random = random * 1103515245 + 12345;
            size_t at = (random >> 4) % size;
            random = random * 1103515245 + 12345;
            forged[at] = random & 1 ? 0xff : (uint8_t)(random >> 16);
        }
        pd_symbol_image_seal(forged, size);
        write_whole(key.name, forged, size);
        struct pd_symtab *table = mapped(&key);
        for (uint64_t address = 0; table && address < 66000; address += 997)
            pd_symtab_find(table, address);
        for (size_t i = 0; table && i < pd_symtab_count(table) && i < 1000; i++) {
            const struct pd_symbol *symbol = pd_symtab_at(table, i);
            taken += symbol && strlen(symbol->name) < size;
        }
        pd_symtab_free(table);
    }
    CHECK(taken > 1000);
    free(forged);
    free(bytes);
}

/* ---- the folder ---- */

static void put(const char *name)
{
    pd_index_write(folder, name, "bytes", 5);
}

static bool has(const char *name)
{
    struct pd_bytes bytes;
    bool there = pd_index_read(folder, name, &bytes);

    if (there)
        CHECK(bytes.size == 5 && !memcmp(bytes.data, "bytes", 5));
    pd_bytes_free(&bytes);
    return there;
}

static void test_owners(void)
{
    put("object-1");
    CHECK(has("object-1"));
    CHECK(!has("object-2"));
    CHECK(!chmod(in_folder("object-1"), 0620) && !has("object-1"));
    CHECK(!chmod(in_folder("object-1"), 0602) && !has("object-1"));
    CHECK(!chmod(in_folder("object-1"), 0600) && has("object-1"));
    CHECK(!chmod(folder, 0770) && !has("object-1") && !pd_index_can_write(folder));
    put("object-3");
    CHECK(!chmod(folder, 0700) && has("object-1") && !has("object-3"));
    CHECK(!symlink("object-1", in_folder("object-4")) && !has("object-4"));
    put("object-4"); /* the link goes, what it names stays */
    CHECK(has("object-4") && has("object-1"));
    CHECK(!mkfifo(in_folder("object-5"), 0600) && !has("object-5")); /* does not wait */
    CHECK(!mkdir(in_folder("object-6"), 0700) && !has("object-6"));
    put("object-6");
    CHECK(!has("object-6") && !rmdir(in_folder("object-6")));
    CHECK(!pd_index_read(NULL, "object-1", &(struct pd_bytes){ 0 }));
    if (geteuid() == 0) {
        CHECK(!chown(in_folder("object-1"), 65534, 65534) && !has("object-1"));
        CHECK(!chown(in_folder("object-1"), 0, 0) && has("object-1"));
        CHECK(!chown(folder, 65534, 65534) && !has("object-1"));
        CHECK(!chown(folder, 0, 0) && has("object-1"));
    }
}

static void test_links(void)
{
    char real[64], kept[64];

    snprintf(kept, sizeof kept, "%s", folder);
    snprintf(real, sizeof real, "%s/real", root);
    CHECK(!rename(folder, real) && !symlink(real, folder));
    CHECK(!has("object-1"));
    put("object-7");
    CHECK(!pd_index_can_write(folder));
    CHECK(!has("object-7") && !unlink(folder) && !rename(real, kept));
    CHECK(has("object-1") && !has("object-7"));
}

/* It is made with the folder above it, but not in a folder that others may write to. */
static void test_making(void)
{
    char kept[64];

    snprintf(kept, sizeof kept, "%s", folder);
    snprintf(folder, sizeof folder, "%s/new/perfdata", root);
    put("object-1");
    CHECK(has("object-1") && pd_index_can_write(folder));
    snprintf(folder, sizeof folder, "%s/no/such/perfdata", root);
    put("object-1");
    CHECK(!has("object-1") && !pd_index_can_write(folder) && !pd_index_can_write(NULL));
    snprintf(folder, sizeof folder, "%s/open", root);
    CHECK(!mkdir(folder, 0700) && !chmod(folder, 0777));
    snprintf(folder, sizeof folder, "%s/open/perfdata", root);
    put("object-1");
    CHECK(!has("object-1") && !pd_index_can_write(folder) && access(folder, F_OK));
    snprintf(folder, sizeof folder, "%s", kept);
}

static void put_large(const char *name, time_t used)
{
    const struct timespec times[2] = { { .tv_sec = used }, { .tv_sec = used } };
    int fd = open(in_folder(name), O_WRONLY | O_CREAT, 0600);

    CHECK(fd >= 0 && !ftruncate(fd, (off_t)PD_INDEX_MAX) && !futimens(fd, times)); /* no blocks */
    close(fd);
}

static bool is_there(const char *name)
{
    return !access(in_folder(name), F_OK);
}

static void test_room(void)
{
    const time_t now = time(NULL);

    put_large("object-a", now - 5000);
    put_large("object-b", now - 9000);
    put_large("part-c", now - 7000); /* of a run that was ended */
    put_large("mine.txt", now - 10000);
    put("object-1");
    CHECK(is_there("object-a") && is_there("object-b") && is_there("part-c"));
    put_large("object-d", now - 3000);
    put("object-1");
    CHECK(is_there("object-a") && is_there("object-d") && has("object-1"));
    CHECK(!is_there("object-b") && !is_there("part-c") && is_there("mine.txt"));
}

/* What is used stays: the time of a file that is read is renewed. */
static void test_use(void)
{
    const time_t old = time(NULL) - 100000;
    const struct timespec times[2] = { { .tv_sec = old }, { .tv_sec = old } };
    struct stat st;

    CHECK(!utimensat(AT_FDCWD, in_folder("object-1"), times, 0));
    CHECK(has("object-1"));
    CHECK(!stat(in_folder("object-1"), &st) && st.st_mtim.tv_sec > old + 50000);
}

int main(void)
{
    char command[128];

    if (!mkdtemp(root))
        return 1;
    snprintf(folder, sizeof folder, "%s/perfdata", root);
    test_same_answers(1000, true);
    test_same_answers(1000, false);
    test_damage();
    test_forged();
    test_owners();
    test_links();
    test_making();
    test_use();
    test_room();
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK(system(command) == 0); // NOLINT: a folder of our own
    return test_done();
}
