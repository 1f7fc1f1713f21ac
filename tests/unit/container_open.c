/* SPDX-License-Identifier: MIT */
/* Opening: headers of every shape, byte orders, bitmaps, attrs, names, groups; and what is no
 * recording. */
#include "test.h"
#include "container/container.h"
#include "make_file.h"

enum { TYPE_ID = 0x10007 /* IDENTIFIER, IP, TID, TIME */, ID_ALL = 1 << 18 };

static perfdata_status open_bytes(const void *bytes, size_t size, struct pd_recording *out)
{
    struct pd_source *source;
    memset(out, 0, sizeof *out);
    pd_context_init(&out->context);
    if (pd_source_open_memory(&out->context, bytes, size, &source) < 0)
        abort();
    return pd_recording_open(source, "test", out);
}

static struct file two_events(bool big)
{
    static const uint64_t first[] = { 11, 12 }, second[] = { 21 };
    struct file f = file_begin(big);
    file_event(&f, TYPE_ID, ID_ALL, 2, first);
    file_event(&f, TYPE_ID, ID_ALL | 1, 1, second);
    file_data(&f);
    file_record(&f, 68, 0, 8);
    return f;
}

/* A length-prefixed string in the file's order. */
static size_t put_string(uint8_t *to, const char *text, bool swap)
{
    size_t length = strlen(text) + 1;
    pd_store32(to, (uint32_t)length, swap);
    memcpy(to + 4, text, length);
    return 4 + length;
}

static void both_orders(void)
{
    for (int big = 0; big < 2; big++) {
        struct file f = two_events(big);
        uint8_t host[32];
        size_t host_size = put_string(host, "box", f.swap);
        file_feature(&f, PD_FEATURE_HOSTNAME, host, host_size);
        file_end(&f);
        struct pd_recording r;
        CHECK(open_bytes(f.bytes, f.size, &r) == 0);
        CHECK(r.version == 2 && r.big_endian == big && r.swap == f.swap);
        CHECK_U64(r.event_count, 2);
        CHECK_STR(r.events[0]->name, "cpu-clock:HG");
        CHECK(r.events[0]->id_count == 2 && r.events[0]->ids[1] == 12 && r.events[1]->ids[0] == 21);
        CHECK(!pd_attr_flag(&r.events[0]->attr, PD_ATTR_DISABLED));
        CHECK(pd_attr_flag(&r.events[1]->attr, PD_ATTR_DISABLED));
        CHECK_U64(pd_map64_get(&r.ids.by_id, 21), 1);
        CHECK(r.features.hostname.present);
        CHECK_STR(r.features.hostname.text.text, "box");
        CHECK(pd_recording_has_feature(&r, PD_FEATURE_HOSTNAME) &&
              !pd_recording_has_feature(&r, PD_FEATURE_ARCH));
        pd_recording_close(&r);
        file_free(&f);
    }
}

/* The bitmap of a 32-bit big-endian recorder: bit n is bit n % 32 of u32 n / 32. */
static void narrow_bitmap(void)
{
    struct file f = two_events(true);
    uint8_t host[32];
    size_t host_size = put_string(host, "arm", f.swap);
    file_feature(&f, PD_FEATURE_HOSTNAME, host, host_size);
    file_end(&f);
    memset(f.bytes + 72, 0, 32);
    file_u32_at(&f, 72, 1u << PD_FEATURE_HOSTNAME);
    struct pd_recording r;
    CHECK(open_bytes(f.bytes, f.size, &r) == 0);
    CHECK(r.features.hostname.present && pd_recording_has_feature(&r, PD_FEATURE_HOSTNAME));
    pd_recording_close(&r);
    file_free(&f);
}

static void old_headers(void)
{
    struct file f = two_events(false);
    file_end(&f);
    struct pd_recording r;
    file_u64_at(&f, 8, 72); /* without a bitmap */
    CHECK(open_bytes(f.bytes, f.size, &r) == 0 && r.event_count == 2);
    pd_recording_close(&r);
    memcpy(f.bytes, "PERFFILE", 8); /* version 1: 152 is no entry size of its time */
    CHECK(open_bytes(f.bytes, f.size, &r) == PERFDATA_ERROR_BAD_HEADER);
    pd_recording_close(&r);
    file_u64_at(&f, 16, 96);
    CHECK(open_bytes(f.bytes, f.size, &r) == 0 && r.version == 1);
    pd_recording_close(&r);
    file_free(&f);
}

/* attr.size beyond the entry, and entries larger than any attr that we know. */
static void odd_attrs(void)
{
    struct file f = two_events(false);
    file_end(&f);
    struct pd_recording r;
    file_u32_at(&f, 104 + 4, 4000);
    CHECK(open_bytes(f.bytes, f.size, &r) == 0 && r.event_count == 2);
    CHECK_U64(r.context.issue_count[PERFDATA_ISSUE_BAD_ATTR], 1);
    CHECK(r.events[0]->id_count == 2); /* the ids stand at the entry's end whatever the attr says */
    pd_recording_close(&r);
    file_u32_at(&f, 104 + 4, 0); /* means 64 */
    CHECK(open_bytes(f.bytes, f.size, &r) == 0 && r.events[0]->attr.sample_type == TYPE_ID);
    pd_recording_close(&r);
    file_u64_at(&f, 104 + FILE_ATTR + 8, UINT64_MAX); /* as many ids as a number can say */
    CHECK(open_bytes(f.bytes, f.size, &r) == 0 && r.events[0]->id_count == 0 &&
          r.events[1]->id_count == 1);
    pd_recording_close(&r);
    file_u64_at(&f, 16, 79);
    CHECK(open_bytes(f.bytes, f.size, &r) == PERFDATA_ERROR_BAD_HEADER && r.context.offset == 16);
    pd_recording_close(&r);
    file_free(&f);
}

static void no_recordings(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        perfdata_status status;
    } cases[] = {
        { "", 0, PERFDATA_ERROR_EMPTY },
        { "\x7f"
          "ELF not a recording at all, though long enough for a header",
          60, PERFDATA_ERROR_NOT_PERF_DATA },
        { "PERFIL", 6, PERFDATA_ERROR_TRUNCATED },
        { "PERFILE2", 8, PERFDATA_ERROR_TRUNCATED },
        { "x", 1, PERFDATA_ERROR_NOT_PERF_DATA },
    };
    for (size_t i = 0; i < PD_LENGTH(cases); i++) {
        struct pd_recording r;
        CHECK(open_bytes(cases[i].bytes, cases[i].size, &r) == cases[i].status);
        CHECK(strstr(r.context.message, "test") != NULL);
        pd_recording_close(&r);
    }
    struct file f = two_events(false);
    struct pd_recording r;
    file_end(&f);
    file_u64_at(&f, 8, 80);
    CHECK(open_bytes(f.bytes, f.size, &r) == PERFDATA_ERROR_BAD_HEADER);
    pd_recording_close(&r);
    file_free(&f);
}

/* The table ends early, a section lies outside, a payload does not parse: the others are there. */
static void bad_features(void)
{
    struct file f = two_events(false);
    uint8_t host[32], arch[32];
    static const uint8_t bad[] = { 0xf0, 0xff, 0xff, 0xff };
    size_t host_size = put_string(host, "box", f.swap),
           arch_size = put_string(arch, "riscv64", f.swap);
    file_feature(&f, PD_FEATURE_HOSTNAME, host, host_size);
    file_feature(&f, PD_FEATURE_OSRELEASE, bad, sizeof bad);
    file_feature(&f, PD_FEATURE_VERSION, host, host_size);
    file_feature(&f, PD_FEATURE_ARCH, arch, arch_size);
    file_feature(&f, 200, bad, sizeof bad);
    file_end(&f);
    file_u64_at(&f, f.table + 32, UINT64_MAX - 3);
    struct pd_recording r;
    CHECK(open_bytes(f.bytes, f.size, &r) == 0);
    CHECK(r.features.hostname.present && r.features.arch.present && !r.features.version.present);
    CHECK_STR(r.features.arch.text.text, "riscv64");
    CHECK_U64(r.context.issue_count[PERFDATA_ISSUE_BAD_FEATURE], 2);
    CHECK_U64(r.context.issue_count[PERFDATA_ISSUE_UNKNOWN_FEATURE], 1);
    pd_recording_close(&r);
    CHECK(open_bytes(f.bytes, f.table + 20, &r) == 0); /* cut within the table */
    CHECK_U64(r.context.issue_count[PERFDATA_ISSUE_TRUNCATED], 1);
    pd_recording_close(&r);
    file_free(&f);
}

static void groups_and_names(void)
{
    struct file f = two_events(false);
    uint8_t group[64], desc[1024] = { 0 };
    size_t at = 4;
    pd_store32(group, 1, f.swap);
    at += put_string(group + at, "mine", f.swap);
    pd_store32(group + at, 0, f.swap);
    pd_store32(group + at + 4, 2, f.swap);
    size_t group_size = at + 8;
    pd_store32(desc, 1, f.swap);
    pd_store32(desc + 4, 64, f.swap);
    at = 8 + 64 + 4; /* attr of zeros, no ids */
    at += put_string(desc + at, "first", f.swap);
    file_feature(&f, PD_FEATURE_EVENT_DESC, desc, at);
    file_feature(&f, PD_FEATURE_GROUP_DESC, group, group_size);
    file_end(&f);
    struct pd_recording r;
    CHECK(open_bytes(f.bytes, f.size, &r) == 0);
    CHECK_STR(r.events[0]->name, "first");
    CHECK_STR(r.events[1]->name, "task-clock:HG");
    CHECK(r.events[0]->member_count == 2 && r.events[1]->leader == 0);
    CHECK_STR(r.events[0]->group_name, "mine");
    pd_recording_close(&r);
    pd_store32(group + group_size - 4, 3, f.swap); /* more members than events */
    struct file again = two_events(false);
    file_feature(&again, PD_FEATURE_GROUP_DESC, group, group_size);
    file_end(&again);
    CHECK(open_bytes(again.bytes, again.size, &r) == 0 && r.events[1]->leader == 1);
    CHECK_U64(r.context.issue_count[PERFDATA_ISSUE_BAD_FEATURE], 1);
    pd_recording_close(&r);
    file_free(&again);
    file_free(&f);
}

static void ends_of_the_data(void)
{
    struct file f = two_events(false);
    file_end(&f);
    struct pd_recording r;
    file_u64_at(&f, 48, 1000000);
    CHECK(open_bytes(f.bytes, f.size, &r) == 0 && r.truncated && r.data.size == 8);
    pd_recording_close(&r);
    file_u64_at(&f, 48, UINT64_MAX);
    CHECK(open_bytes(f.bytes, f.size, &r) == 0 && r.truncated && r.data.size == 8);
    pd_recording_close(&r);
    file_u64_at(&f, 48, 0);
    CHECK(open_bytes(f.bytes, f.size, &r) == 0 && r.unfinished && r.data.size == 8);
    CHECK_U64(r.context.issue_count[PERFDATA_ISSUE_UNFINISHED], 1);
    pd_recording_close(&r);
    file_u64_at(&f, 40, UINT64_MAX - 7);
    CHECK(open_bytes(f.bytes, f.size, &r) == 0 && r.truncated && r.data.size == 0);
    pd_recording_close(&r);
    file_free(&f);
}

int main(void)
{
    both_orders();
    narrow_bitmap();
    old_headers();
    odd_attrs();
    no_recordings();
    bad_features();
    groups_and_names();
    ends_of_the_data();
    return test_done();
}
