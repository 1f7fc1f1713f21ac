/* SPDX-License-Identifier: MIT */
/* A profile -> one HTML file: the page's code, and the page's data deflated and in base64. */
#include "page/page.h"
#include "container/handle.h"
#include "io/output_file.h"
#include "page/page_parts.h" /* page_begin, page_before, page_after: by scripts/join-page */
#include <errno.h>
#include <zlib.h>

/* A multiple of 3, so that no piece of base64 but the last is padded. */
#define PIECE (3 * 16384)

static void put_base64(const unsigned char *bytes, size_t size, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3, out += 4) {
        size_t left = size - i;
        uint32_t word = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? bytes[i + 2] : 0);
        out[0] = digits[word >> 18];
        out[1] = digits[word >> 12 & 63];
        out[2] = left > 1 ? digits[word >> 6 & 63] : '=';
        out[3] = left > 2 ? digits[word & 63] : '=';
    }
}

static perfdata_status put_piece(const struct pd_page_output *output, bool as_text,
                                 const unsigned char *bytes, size_t size)
{
    if (!as_text)
        return pd_page_put(output, bytes, size);
    char text[PIECE / 3 * 4];
    put_base64(bytes, size, text);
    return pd_page_put(output, text, (size + 2) / 3 * 4);
}

/* Deflates what it is given, piece by piece. */
struct packer {
    const struct pd_page_output *output;
    z_stream z;
    bool as_text;
    unsigned char piece[PIECE];
};

static perfdata_status deflate_more(struct packer *p, const struct pd_text *text, int flush)
{
    perfdata_status status = PERFDATA_OK;
    const char *bytes = text->data;
    size_t left = text->length;
    int result = Z_OK;
    do {
        if (!p->z.avail_in && left) {
            p->z.next_in = (unsigned char *)(uintptr_t)bytes;
            p->z.avail_in = left > (1u << 30) ? 1u << 30 : (unsigned)left;
            bytes += p->z.avail_in;
            left -= p->z.avail_in;
        }
        result = deflate(&p->z, left ? Z_NO_FLUSH : flush);
        if (result == Z_STREAM_ERROR)
            return PERFDATA_ERROR_MEMORY;
        if (!p->z.avail_out || result == Z_STREAM_END) {
            status = put_piece(p->output, p->as_text, p->piece, PIECE - p->z.avail_out);
            p->z.next_out = p->piece;
            p->z.avail_out = PIECE;
        }
    } while (status >= 0 && (flush == Z_FINISH ? result != Z_STREAM_END : left || p->z.avail_in));
    return status;
}

static perfdata_status put_deflated(const struct pd_page_output *output, bool as_text,
                                    const struct pd_text *head, const struct pd_text *columns)
{
    struct packer p = { .output = output, .as_text = as_text };
    int level = as_text ? 9 : 3; /* a server's page does not go far */
    if (deflateInit2(&p.z, level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return PERFDATA_ERROR_MEMORY;
    p.z.next_out = p.piece;
    p.z.avail_out = PIECE;
    perfdata_status status = deflate_more(&p, head, Z_NO_FLUSH);
    if (status >= 0)
        status = deflate_more(&p, columns, Z_FINISH);
    (void)deflateEnd(&p.z);
    return status;
}

/* What the page may ask for: nothing, or its server. */
static perfdata_status put_before(const struct pd_page_output *output, const char *policy)
{
    perfdata_status status = pd_page_put(output, page_begin, sizeof page_begin);
    if (status >= 0)
        status = pd_page_put(output, policy, strlen(policy));
    return status < 0 ? status : pd_page_put(output, page_before, sizeof page_before);
}

static perfdata_status put_shell(const struct pd_page_output *output)
{
    perfdata_status status = put_before(output, "connect-src 'self'; ");
    return status < 0 ? status : pd_page_put(output, page_after, sizeof page_after);
}

static perfdata_status put_page(perfdata_recording *recording, const perfdata_profile *profile,
                                const struct perfdata_page_options *options,
                                const struct pd_page_output *output)
{
    struct pd_text head = { 0 }, columns = { 0 };
    bool is_page = options->form == PERFDATA_PAGE_HTML;
    perfdata_status status = pd_page_data(recording, profile, options, &head, &columns);
    if (status >= 0 && is_page)
        status = put_before(output, "");
    if (status >= 0)
        status = put_deflated(output, is_page, &head, &columns);
    if (status >= 0 && is_page)
        status = pd_page_put(output, page_after, sizeof page_after);
    pd_text_free(&head);
    pd_text_free(&columns);
    return status;
}

static perfdata_status take_options(struct pd_context *context,
                                    const struct perfdata_page_options *given,
                                    struct perfdata_page_options *out)
{
    *out = (struct perfdata_page_options)PERFDATA_PAGE_OPTIONS_INIT;
    perfdata_status status = pd_take_options(context, out, sizeof *out, given);
    if (status >= 0 && (out->form > PERFDATA_PAGE_DATA ||
                        out->flags & ~(uint32_t)(PERFDATA_PAGE_ICICLE | PERFDATA_PAGE_SAMPLES |
                                                 PERFDATA_PAGE_UPWARD) ||
                        (out->flags & PERFDATA_PAGE_ICICLE && out->flags & PERFDATA_PAGE_UPWARD)))
        status = PERFDATA_ERROR_ARGUMENT;
    return status;
}

PERFDATA_API perfdata_status perfdata_page_write(perfdata_recording *recording,
                                                 const perfdata_profile *profile,
                                                 const struct perfdata_page_options *options,
                                                 perfdata_write_fn write, void *data)
{
    struct perfdata_page_options own;
    if (!write)
        return PERFDATA_ERROR_ARGUMENT;
    perfdata_status status = take_options(recording ? &recording->recording.context : NULL, options,
                                          &own);
    if (status < 0)
        return status;
    struct pd_page_output output = { write, data };
    if (own.form == PERFDATA_PAGE_SHELL)
        return put_shell(&output);
    if (!profile)
        return PERFDATA_ERROR_ARGUMENT;
    return own.form == PERFDATA_PAGE_SVG ? pd_page_svg(profile, &own, &output)
                                         : put_page(recording, profile, &own, &output);
}

PERFDATA_API perfdata_status perfdata_page_file(perfdata_recording *recording,
                                                const perfdata_profile *profile,
                                                const struct perfdata_page_options *options,
                                                const char *path)
{
    struct pd_output_file file;
    perfdata_status status = pd_handle_output(recording, path, &file);
    if (status < 0)
        return status;
    struct pd_context *context = &recording->recording.context;
    status = perfdata_page_write(recording, profile, options, pd_output_file_put, &file);
    if (status == PERFDATA_ERROR_NO_DATA)
        status = pd_fail(context, status, -1, "the profile kept no samples");
    else if (status == PERFDATA_ERROR_MEMORY)
        status = pd_fail(context, status, -1, "out of memory");
    return pd_output_file_close(context, &file, status);
}
