/* SPDX-License-Identifier: MIT */
/* Intel PT packets: each kind, the padding that counts to a packet, block context, cut and bad
 * ones. */
#include "itrace/intel_pt/packet.h"
#include "test.h"

static void check_line(const char *bytes, size_t size, const char *expected)
{
    enum pd_pt_context context = PD_PT_NO_BLOCK;
    struct pd_text all = { 0 };
    for (size_t at = 0; at < size;) {
        struct pd_pt_packet packet;
        pd_pt_packet_decode((const uint8_t *)bytes + at, size - at, &context, &packet);
        if (at)
            pd_text_char(&all, ';');
        pd_pt_packet_text(&packet, &all);
        at += packet.size;
        CHECK(at <= size);
    }
    pd_text_char(&all, 0);
    CHECK_STR(all.data, expected);
    for (size_t cut = 1; cut < size;
         cut++) { /* exact allocations, so that a sanitizer sees an overrun */
        uint8_t *copy = malloc(cut);
        memcpy(copy, bytes, cut);
        all.length = 0;
        pd_pt_dump(copy, cut, &all);
        free(copy);
    }
    pd_text_free(&all);
}

#define LINE(bytes, expected) check_line(bytes, sizeof(bytes) - 1, expected)

static void check_find(void)
{
    uint8_t bytes[64] = { 0 };
    for (int i = 0; i < 16; i++)
        bytes[33 + i] = i & 1 ? 0x82 : 2;
    CHECK_U64(pd_pt_find_psb(bytes, sizeof bytes, 0), 33);
    CHECK_U64(pd_pt_find_psb(bytes, sizeof bytes, 34), sizeof bytes);
    CHECK_U64(pd_pt_find_psb(bytes, 48, 0), 48);
}

/* Every PSB from everywhere, as a search byte by byte finds it: in bytes that mostly look like
 * parts of one. */
static void check_find_all(void)
{
    enum { SIZE = 300, ROUNDS = 3000 };
    static const uint8_t values[] = { 2, 0x82, 2, 0x82, 2, 0x82, 0, 0x55 };
    uint8_t psb[16], *bytes = malloc(SIZE); /* so that a sanitizer sees an overrun */
    uint32_t random = 1;
    size_t found = 0, first[SIZE + 1];
    for (unsigned i = 0; i < sizeof psb; i++)
        psb[i] = i & 1 ? 0x82 : 2;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (size_t at = 0; at < SIZE; at++) {
            random = random * 1664525 + 1013904223;
            bytes[at] = values[(random >> 24) % 8];
            if (random >> 16 & 15 && at) /* goes on as before */
                bytes[at] = bytes[at - 1] ^ 0x80;
        }
        size_t size = SIZE - round % 100;
        first[size] = size;
        for (size_t at = size; at--;) {
            bool here = size - at >= sizeof psb && !memcmp(bytes + at, psb, sizeof psb);
            first[at] = here ? at : first[at + 1];
            found += here;
        }
        size_t wrong = 0;
        for (size_t at = 0; at <= size; at++)
            wrong += pd_pt_find_psb(bytes, size, at) != first[at];
        CHECK_U64(wrong, 0);
    }
    CHECK(found > ROUNDS);
    free(bytes);
}

static void check_ip_compression(void)
{
    static const struct {
        uint8_t code;
        uint64_t payload, expected;
    } steps[] = { { 6, UINT64_C(0xfedcba9876543210), UINT64_C(0xfedcba9876543210) },
                  { 1, 0x1111, UINT64_C(0xfedcba9876541111) },
                  { 2, 0x22222222, UINT64_C(0xfedcba9822222222) },
                  { 4, UINT64_C(0x333333333333), UINT64_C(0xfedc333333333333) },
                  { 3, UINT64_C(0xffff81000b4a), UINT64_C(0xffffffff81000b4a) } };
    uint64_t ip = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct pd_pt_packet packet = { .kind = PD_PT_TIP,
                                       .count = steps[i].code,
                                       .payload = steps[i].payload };
        CHECK(pd_pt_ip(&packet, &ip));
        CHECK_U64(ip, steps[i].expected);
    }
    struct pd_pt_packet none = { .kind = PD_PT_TIP };
    CHECK(!pd_pt_ip(&none, &ip));
}

int main(void)
{
    LINE("\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x23", "PSB;PSBEND");
    LINE("\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x83", /* one byte off */
         "Bad packet!;TNT NNNNNT (6);Bad packet!;TNT NNNNNT (6);Bad packet!;TNT NNNNNT (6);Bad "
         "packet!;TNT NNNNNT (6);"
         "Bad packet!;TNT NNNNNT (6);Bad packet!;TNT NNNNNT (6);Bad packet!;TNT NNNNNT "
         "(6);TraceSTOP");
    LINE("\x04\x06\xff", "TNT N (1);TNT T (1);Bad packet!");
    LINE("\x02\xa3\x05\x00\x00\x00\x00\x00", "TNT NT (2)");
    LINE("\x02\xa3\x00\x00\x00\x00\x00\x00", "TNT  (0)");
    LINE("\x19\xb8\x9e\x76\x65\x22\x00\x00", "TSC 0x2265769eb8");
    LINE("\x02\x73\xae\x28\x00\x30\x01", "TMA CTC 0x28ae FC 0x130");
    LINE("\x59\x16\x47\x08", "MTC 0x16;CYC 0x88");
    LINE("\x02\x03\x17\x00", "CBR 0x17");
    LINE("\x99\x01\x99\x02\x99\x04\x99\x03",
         "MODE.Exec IF:0 64;MODE.Exec IF:0 32;MODE.Exec IF:1 16;Bad packet!;CYC 0x0");
    LINE("\x99\x21\x99\x22", "MODE.TSX TXAbort:0 InTX:1;MODE.TSX TXAbort:1 InTX:0");
    LINE("\x71\xab\x77\xfc\xf7\xff\x7f\x2d\xd8\x9b\x01",
         "TIP.PGE 0x7ffff7fc77ab;TIP 0x9bd8;TIP.PGD no ip");
    LINE("\xbd", "Bad packet!");
    LINE("\x02\x43\x03\x00\x00\x00\x00\x00\x02\xc8\x01\x00\x00\x00\x00", "PIP 0x1 (NR=1);VMCS 0x1");
    LINE("\x02\xf3\x02\x83", "OVF;TraceSTOP");
    LINE("\x02\x12\x01\x02\x03\x04\x02\xb2\x01\x00\x00\x00\x00\x00\x00\x80",
         "PTWRITE 0x4030201 IP:0;PTWRITE 0x8000000000000001 IP:1");
    LINE("\x02\x62\x02\xe2", "EXSTOP IP:0;EXSTOP IP:1");
    LINE("\x02\xc2\x11\x00\x00\x00\x02\x00\x00\x00", "MWAIT 0x200000011 Hints 0x11 Extensions 0x2");
    LINE("\x02\x22\x80\x23", "PWRE 0x2380 HW:1 CState:2 Sub-CState:3");
    LINE("\x02\xa2\x21\x04\x00\x00\x00",
         "PWRX 0x421 Last CState:2 Deepest CState:1 Wake Reason 0x4");
    LINE("\x02\x63\x84\x04\x01\x00\x00\x01\x02\x33\x04",
         "BBP SZ 4-byte Type 0x4;BIP ID 0x00 Value 0x1000001;BEP IP:0;TNT N (1)");
    LINE("\x02\x13\x81\x20\x02\x53\x01\x01\x00\x00\x00\x00\x00\x00\x00",
         "CFE IP:1 Type 0x01 Vector 0x20;EVD Type 0x01 Payload 0x1");
    LINE("\x02\xc3\x88\x01\x00\x00\x00\x00\x00\x00\x00", "MNT 0x1");
    LINE("\x59\x16\x00\x00\x00\x00\x00\x00\x00\x00",
         "MTC 0x16;PAD"); /* zeros count to a packet up to 8 bytes */
    check_find();
    check_find_all();
    check_ip_compression();
    return test_done();
}
