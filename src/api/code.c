/* SPDX-License-Identifier: MIT */
/* <perfdata/records.h>: the code and the source of samples. */
#include "api/cursor.h"

/* Views of what ran are forgotten between samples, when they are many. */
static bool open_code(struct perfdata_cursor *cursor)
{
    struct pd_code *code = cursor->code ? NULL : pd_session_code(&cursor->session);
    if (code)
        cursor->code = pd_code_reader_new(code);
    else if (cursor->code)
        (void)pd_code_reader_trim(cursor->code);
    return cursor->code != NULL;
}

perfdata_status perfdata_sample_insn(const perfdata_sample *sample, uint64_t *ip,
                                     const uint8_t **bytes, size_t *size)
{
    struct perfdata_cursor *cursor = sample->cursor;
    const struct pd_delivered *record = cursor->record.delivered;
    *bytes = NULL;
    *size = 0;
    perfdata_status status = pd_api_resolves(&cursor->record);
    if (status < 0)
        return status;
    if (!open_code(cursor))
        return pd_no_memory(&cursor->recording->context, NULL);
    const struct pd_insn_reader from = { .code = cursor->code,
                                         .is_native = pd_script_is_native(cursor->recording),
                                         .guests = cursor->session.guests.wanted };
    unsigned length = pd_script_read_insn(&from, &sample->decoded, record, &cursor->insn);
    if (!length)
        return PERFDATA_ERROR_NO_DATA;
    *ip = cursor->insn.ip;
    *bytes = cursor->insn.bytes;
    *size = length;
    return PERFDATA_OK;
}

perfdata_status perfdata_record_source(const perfdata_record *record, uint8_t cpumode, uint64_t ip,
                                       struct perfdata_source *out)
{
    struct perfdata_cursor *cursor = record->cursor;
    struct pd_source_line at;
    struct pd_source_text text = { NULL, 0 };
    perfdata_status status = pd_api_resolves(record);
    if (status < 0)
        return status;
    const struct pd_location *location = pd_resolve(cursor->resolver, record->delivered->thread,
                                                    record->delivered->number, cpumode, ip);
    if (!location)
        return pd_no_memory(&cursor->recording->context, NULL);
    if (!location->map)
        return PERFDATA_ERROR_NO_DATA;
    if (!pd_symbols_line(cursor->session.symbols, location->map, location->addr, &at))
        return pd_no_memory(&cursor->recording->context, NULL);
    if (at.answer != PD_LINES_FOUND || !at.line)
        return PERFDATA_ERROR_NO_DATA;
    if (!cursor->source && !(cursor->source = pd_script_source_new()))
        return pd_no_memory(&cursor->recording->context, NULL);
    if (!pd_script_source_text(cursor->source, at.file, at.line, &text))
        return pd_no_memory(&cursor->recording->context, NULL);
    struct perfdata_source result = {
        .file = at.file, .line = at.line, .code = text.text, .code_size = text.length
    };
    pd_give_result(out, &result, sizeof result);
    return PERFDATA_OK;
}
