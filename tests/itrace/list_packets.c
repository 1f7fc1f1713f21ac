/* SPDX-License-Identifier: MIT */
/* list_packets TRACE ours|libipt: "OFFSET KIND" of each packet of a bare trace from its first PSB
 * on, by <perfdata/itrace.h> or by libipt, the reference decoder, with libipt's names. Padding is
 * left out. Only where libipt is installed. */
#include <intel-pt.h>
#include <perfdata/itrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *libipt_name(enum pt_packet_type type)
{
    switch (type) {
    case ppt_psb: return "PSB";
    case ppt_psbend: return "PSBEND";
    case ppt_fup: return "FUP";
    case ppt_tip: return "TIP";
    case ppt_tip_pge: return "TIP.PGE";
    case ppt_tip_pgd: return "TIP.PGD";
    case ppt_tnt_8:
    case ppt_tnt_64: return "TNT";
    case ppt_mode: return "MODE";
    case ppt_pip: return "PIP";
    case ppt_vmcs: return "VMCS";
    case ppt_cbr: return "CBR";
    case ppt_tsc: return "TSC";
    case ppt_tma: return "TMA";
    case ppt_mtc: return "MTC";
    case ppt_cyc: return "CYC";
    case ppt_stop: return "TraceSTOP";
    case ppt_ovf: return "OVF";
    case ppt_mnt: return "MNT";
    case ppt_exstop: return "EXSTOP";
    case ppt_mwait: return "MWAIT";
    case ppt_pwre: return "PWRE";
    case ppt_pwrx: return "PWRX";
    case ppt_ptw: return "PTWRITE";
    default: return "other";
    }
}

static int by_libipt(uint8_t *bytes, size_t size)
{
    struct pt_config config;
    pt_config_init(&config);
    config.begin = bytes;
    config.end = bytes + size;
    struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(&config);
    if (!decoder || pt_pkt_sync_forward(decoder) < 0)
        return 1;
    for (;;) {
        struct pt_packet packet;
        uint64_t offset;
        pt_pkt_get_offset(decoder, &offset);
        int status = pt_pkt_next(decoder, &packet, sizeof packet);
        if (status == -pte_eos)
            break;
        if (status < 0) { /* what it does not know ends the comparison */
            printf("%llu stop\n", (unsigned long long)offset);
            break;
        }
        if (packet.type != ppt_pad)
            printf("%llu %s\n", (unsigned long long)offset, libipt_name(packet.type));
    }
    pt_pkt_free_decoder(decoder);
    return 0;
}

static int by_perfdata(const uint8_t *bytes, size_t size)
{
    perfdata_packets *packets;
    struct perfdata_packet packet = { .struct_size = sizeof packet };
    if (perfdata_packets_open(bytes, size, &packets) < 0 || !perfdata_packets_sync(packets))
        return 1;
    while (perfdata_packets_next(packets, &packet) > 0) {
        const char *name = perfdata_packet_kind_name(packet.kind);
        if (packet.kind == PERFDATA_PACKET_PAD)
            continue;
        if (packet.kind == PERFDATA_PACKET_BAD || packet.kind >= PERFDATA_PACKET_BBP) {
            printf("%llu stop\n", (unsigned long long)packet.offset);
            break;
        }
        printf("%llu %s\n", (unsigned long long)packet.offset,
               strncmp(name, "MODE", 4) ? name : "MODE");
    }
    perfdata_packets_close(packets);
    return 0;
}

int main(int argc, char **argv)
{
    FILE *file = argc > 2 ? fopen(argv[1], "rb") : NULL;
    static uint8_t bytes[16 << 20];
    if (!file)
        return 2;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return strcmp(argv[2], "libipt") ? by_perfdata(bytes, size) : by_libipt(bytes, size);
}
