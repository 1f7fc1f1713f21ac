/* SPDX-License-Identifier: MIT */
/* What dump says of the same records in both byte orders. */
#include "base/text.h"
#include "format/format.h"
#include "make_file.h"
#include "test.h"
#include <perfdata/dump.h>

#define SAMPLE_TYPE                                                                                \
    (PD_SAMPLE_IDENTIFIER | PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_CALLCHAIN)

static struct file make(bool big)
{
    const uint64_t id = 7;
    struct file f = file_begin(big);
    file_event(&f, SAMPLE_TYPE,
               UINT64_C(1) << PD_ATTR_SAMPLE_ID_ALL | UINT64_C(1) << PD_ATTR_EXCLUDE_GUEST, 1, &id);
    file_data(&f);
    size_t at = file_record(&f, PD_RECORD_COMM, PD_MISC_COMM_EXEC, 48);
    file_u32_at(&f, at + 8, 42);
    file_u32_at(&f, at + 12, UINT32_MAX);
    memcpy(f.bytes + at + 16, "a\"b\xff", 4);
    file_u32_at(&f, at + 24, 42);
    file_u32_at(&f, at + 28, 43);
    file_u64_at(&f, at + 32, 1000);
    file_u64_at(&f, at + 40, id);
    at = file_record(&f, PD_RECORD_SAMPLE, PD_CPUMODE_USER, 64);
    file_u64_at(&f, at + 8, id);
    file_u64_at(&f, at + 16, 0x401000);
    file_u32_at(&f, at + 24, 42);
    file_u32_at(&f, at + 28, 43);
    file_u64_at(&f, at + 32, 2000);
    file_u64_at(&f, at + 40, 2);
    file_u64_at(&f, at + 48, PD_CONTEXT(USER));
    file_u64_at(&f, at + 56, 0x401000);
    at = file_record(&f, PD_RECORD_NAMESPACES, 0, 64);
    file_u32_at(&f, at + 8, 42);
    file_u32_at(&f, at + 12, 43);
    file_u64_at(&f, at + 16, 1);
    file_u64_at(&f, at + 24, 4);
    file_u64_at(&f, at + 32, 5);
    file_u64_at(&f, at + 56, id);
    file_end(&f);
    return f;
}

static const char expected_text[] =
    "0x4c8 COMM size 48 misc 0x2000 (comm_exec) event \"cpu-clock\"\n"
    "  pid: 42\n"
    "  tid: -1\n"
    "  comm: \"a\\\"b\\udcff\"\n"
    "  sample_id:\n"
    "    pid: 42\n"
    "    tid: 43\n"
    "    time: 1000\n"
    "    identifier: 7\n"
    "0x4f8 SAMPLE size 64 misc 0x2 (user) event \"cpu-clock\"\n"
    "  identifier: 7\n"
    "  ip: 0x401000\n"
    "  pid: 42\n"
    "  tid: 43\n"
    "  time: 2000\n"
    "  callchain_nr: 2\n"
    "  ips:\n"
    "    0xfffffffffffffe00 PERF_CONTEXT_USER\n"
    "    0x0000000000401000\n"
    "0x538 NAMESPACES size 64 misc 0x0 event \"cpu-clock\"\n"
    "  pid: 42\n"
    "  tid: 43\n"
    "  nr_namespaces: 1\n"
    "  link_info:\n"
    "    - dev: 4\n"
    "      ino: 5\n"
    "  sample_id:\n"
    "    pid: 0\n"
    "    tid: 0\n"
    "    time: 0\n"
    "    identifier: 7\n";

static const char expected_json[] =
    "{\"offset\":1224,\"type\":\"COMM\",\"number\":3,\"misc\":8192,\"size\":48,\"payload_size\":0,"
    "\"event\":\"cpu-clock\",\"fields\":{\"pid\":42,\"tid\":-1,\"comm\":\"a\\\"b\\udcff\","
    "\"sample_id\":{\"pid\":42,\"tid\":43,\"time\":\"1000\",\"identifier\":\"7\"}}}\n"
    "{\"offset\":1272,\"type\":\"SAMPLE\",\"number\":9,\"misc\":2,\"size\":64,\"payload_size\":0,"
    "\"event\":\"cpu-clock\",\"fields\":{\"identifier\":\"7\",\"ip\":\"0x401000\",\"pid\":42,"
    "\"tid\":43,"
    "\"time\":\"2000\",\"callchain_nr\":2,\"ips\":[\"0xfffffffffffffe00\",\"0x401000\"]}}\n"
    "{\"offset\":1336,\"type\":\"NAMESPACES\",\"number\":16,\"misc\":0,\"size\":64,\"payload_"
    "size\":0,"
    "\"event\":\"cpu-clock\",\"fields\":{\"pid\":42,\"tid\":43,\"nr_namespaces\":1,"
    "\"link_info\":[{\"dev\":\"4\",\"ino\":\"5\"}],"
    "\"sample_id\":{\"pid\":0,\"tid\":0,\"time\":\"0\",\"identifier\":\"7\"}}}\n";

static int append(void *data, const char *text, size_t length)
{
    pd_text_bytes(data, text, length);
    return 0;
}

static void check(perfdata_recording *recording, int what, const char *expected)
{
    struct pd_text text = { 0 };
    perfdata_status status = what == 2
                                 ? perfdata_dump_stats(recording, append, &text)
                                 : perfdata_dump_print(recording, (uint32_t)what, append, &text);
    CHECK(status == PERFDATA_OK);
    pd_text_char(&text, '\0');
    CHECK_STR(text.data, expected);
    pd_text_free(&text);
}

static uint64_t dump(bool big)
{
    struct file f = make(big);
    perfdata_recording *recording;
    uint64_t sum = 0, records = 0;
    CHECK(perfdata_recording_open_memory(f.bytes, f.size, NULL, &recording) == PERFDATA_OK);
    check(recording, 0, expected_text);
    check(recording, PERFDATA_DUMP_JSON, expected_json);
    check(recording, 2, "COMM 1\nNAMESPACES 1\nSAMPLE 1\n");
    CHECK(perfdata_dump_checksum(recording, &sum, &records) == PERFDATA_OK);
    CHECK_U64(records, 3);
    perfdata_recording_close(recording);
    /* Every field counts. */
    for (size_t at = f.data + 8; at < f.data + 12; at++) {
        uint64_t other;
        f.bytes[at] ^= 4;
        CHECK(perfdata_recording_open_memory(f.bytes, f.size, NULL, &recording) == PERFDATA_OK);
        CHECK(perfdata_dump_checksum(recording, &other, NULL) == PERFDATA_OK);
        CHECK(other != sum);
        perfdata_recording_close(recording);
        f.bytes[at] ^= 4;
    }
    file_free(&f);
    return sum;
}

int main(void)
{
    uint64_t little = dump(false);
    CHECK_U64(dump(true), little);
    return test_done();
}
