/* SPDX-License-Identifier: MIT */
/* <perfdata/itrace.h>: packets of a bare trace, one by one; AUX areas of a recording that has
 * none. */
#include "test.h"
#include <perfdata/itrace.h>

static const char trace[] = "\x7f" /* not a packet's start when synchronised */
                            "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
                            "\x7d\x10\x20\x30\x40\x50\x60" /* FUP, 6 bytes, sign-extended */
                            "\x02\x23\0\0\0"               /* PSBEND and padding */
                            "\x2d\x34\x12"                 /* TIP, 2 bytes */
                            "\x0d"                         /* TIP without IP */
                            "\x2e"                         /* TNT */
                            "\x05";                        /* none */

static void check_packets(void)
{
    static const struct {
        uint32_t kind, size, own_size;
        uint64_t ip;
        const char *text;
    } expected[] = {
        { PERFDATA_PACKET_PSB, 16, 16, 0, "PSB" },
        { PERFDATA_PACKET_FUP, 7, 7, 0x605040302010, "FUP 0x605040302010" },
        { PERFDATA_PACKET_PSBEND, 5, 2, 0, "PSBEND" },
        { PERFDATA_PACKET_TIP, 3, 3, 0x605040301234, "TIP 0x1234" },
        { PERFDATA_PACKET_TIP, 1, 1, 0, "TIP no ip" },
        { PERFDATA_PACKET_TNT, 1, 1, 0, "TNT NTTT (4)" },
        { PERFDATA_PACKET_BAD, 1, 1, 0, "Bad packet!" },
    };
    perfdata_packets *packets;
    struct perfdata_packet packet = { .struct_size = sizeof packet };
    CHECK(perfdata_packets_open(trace, sizeof trace - 1, &packets) == 0);
    CHECK(perfdata_packets_sync(packets) == 1);
    uint64_t offset = 1;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        CHECK(perfdata_packets_next(packets, &packet) == 1);
        CHECK_U64(packet.offset, offset);
        CHECK_U64(packet.kind, expected[i].kind);
        CHECK_U64(packet.size, expected[i].size);
        CHECK_U64(packet.own_size, expected[i].own_size);
        CHECK_U64(packet.ip, expected[i].ip);
        CHECK_STR(perfdata_packets_text(packets), expected[i].text);
        offset += packet.size;
    }
    CHECK(perfdata_packets_next(packets, &packet) == 0);
    CHECK(perfdata_packets_sync(packets) == 0);
    perfdata_packets_seek(packets, 24);
    CHECK(perfdata_packets_next(packets, &packet) == 1 && packet.kind == PERFDATA_PACKET_PSBEND);
    perfdata_packets_close(packets);
    CHECK_STR(perfdata_packet_kind_name(PERFDATA_PACKET_MODE_EXEC), "MODE.Exec");
    CHECK(!perfdata_packet_kind_name(10000));
}

static void check_none(void)
{
    char path[4096];
    perfdata_recording *recording;
    perfdata_aux *aux;
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    snprintf(path, sizeof path, "%s/tests/data/demo/spin.data", getenv("SOURCE"));
    CHECK(perfdata_recording_open(path, &options, &recording) == 0);
    CHECK(perfdata_aux_open(recording, NULL, &aux) == PERFDATA_ERROR_NO_DATA && !aux);
    CHECK_STR(perfdata_recording_error(recording, NULL), "the recording has no AUX areas");
    perfdata_recording_close(recording);
    CHECK_STR(perfdata_aux_kind_name(PERFDATA_AUXTRACE_ARM_SPE), "Arm SPE");
    CHECK(!perfdata_aux_kind_name(99));
    perfdata_aux_close(NULL);
    perfdata_packets_close(NULL);
}

int main(void)
{
    check_packets();
    check_none();
    return test_done();
}
