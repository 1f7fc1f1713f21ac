/* SPDX-License-Identifier: MIT */
/* CoreSight frames: 16 bytes that carry the traces of several units, told apart by ids, to each
 * unit's packets. */
#include "itrace/coresight/coresight.h"
#include <stdlib.h>

enum { FRAME = 16, FLAGS = 15 };

struct dump {
    const struct pd_coresight *coresight;
    struct pd_etm4 *units; /* by id */
    struct pd_text *text;
    uint8_t id;
    /* where the next byte of the block stands, as OpenCSD counts: an id at its start does not */
    uint64_t at;
};

static void start_units(struct dump *dump)
{
    for (size_t id = 0; id < PD_CORESIGHT_IDS; id++)
        if (dump->coresight->known[id])
            pd_etm4_init(&dump->units[id], &dump->coresight->config[id]);
}

/* What follows has nothing to do with what came before. */
static void start_anew(struct dump *dump)
{
    start_units(dump);
    dump->id = 0;
    for (unsigned id = 0; id < PD_CORESIGHT_IDS; id++)
        if (dump->coresight->known[id])
            pd_text_format(dump->text, "\tID:%x\tRESET operation on trace decode path\n", id);
}

static void put_packet(const struct dump *dump, const struct pd_etm4_packet *packet)
{
    struct pd_text *text = dump->text;
    if (packet->kind == PD_ETM4_RESERVED)
        pd_text_format(text,
                       "\tPKTP_%s_%04u : 0x0014 (OCSD_ERR_INVALID_PCKT_HDR) [Invalid packet "
                       "header]; TrcIdx=%llu; CS ID=%02x; \n",
                       dump->coresight->name, dump->id, (unsigned long long)packet->at, dump->id);
    pd_text_format(text, "\tIdx:%llu; ID:%x;\t", (unsigned long long)packet->at, dump->id);
    pd_etm4_text(packet, text);
    pd_text_char(text, '\n');
}

static void put_byte(struct dump *dump, uint8_t byte)
{
    struct pd_etm4_packet packet;
    if (dump->coresight->known[dump->id] &&
        pd_etm4_byte(&dump->units[dump->id], byte, dump->at, &packet))
        put_packet(dump, &packet);
    dump->at++;
}

/* Even bytes are data without their lowest bit, which the last byte has, or ids, which may count
 * one byte later. */
static void put_frame(struct dump *dump, const uint8_t *frame, uint64_t at)
{
    bool has_data = false;
    dump->at = at;
    for (unsigned i = 0; i < FLAGS; i += 2) {
        uint8_t flag = frame[FLAGS] >> i / 2 & 1, id = frame[i] >> 1;
        bool is_last = i == FLAGS - 1;
        if (!(frame[i] & 1)) {
            put_byte(dump, frame[i] | flag);
            has_data = true;
        } else if (id != dump->id) {
            bool waits = flag && !is_last;
            if (waits)
                put_byte(dump, frame[i + 1]);
            dump->id = id;
            if (has_data || waits)
                dump->at = at + i;
            has_data = false;
            if (waits)
                continue;
        }
        if (!is_last) {
            put_byte(dump, frame[i + 1]);
            has_data = true;
        }
    }
}

void pd_coresight_dump(const struct pd_coresight *coresight, const uint8_t *bytes, size_t size,
                       uint64_t offset, struct pd_text *text)
{
    static const uint8_t sync[FRAME] = { 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f,
                                         0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f };
    struct dump dump = { .coresight = coresight, .text = text };
    dump.units = calloc(PD_CORESIGHT_IDS, sizeof *dump.units);
    if (!dump.units) {
        text->failed = true;
        return;
    }
    pd_text_format(text, ". ... CoreSight %s Trace data: size %#zx bytes\n", coresight->name, size);
    start_units(&dump);
    for (size_t at = 0; size - at >= FRAME; at += FRAME) {
        if (memcmp(bytes + at, sync, FRAME))
            put_frame(&dump, bytes + at, offset + at);
        else
            start_anew(&dump);
    }
    free(dump.units);
}
