/* SPDX-License-Identifier: MIT */
/* `timechart`: the shapes of the picture, in perf's words. */
#include "render/timechart/timechart.h"
#include <math.h>
#include <stdarg.h>

/* Rows are 30 pixels apart and 25 high; a CPU has two of them. */
enum { ROW = 30, HEIGHT = 25, CPU_HEIGHT = ROW + HEIGHT };

static const char style[] =
    "<defs>\n"
    "  <style type=\"text/css\">\n"
    "    <![CDATA[\n"
    "      rect          { stroke-width: 1; }\n"
    "      rect.process  { fill:rgb(180,180,180); fill-opacity:0.9; stroke-width:1;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.process2 { fill:rgb(180,180,180); fill-opacity:0.9; stroke-width:0;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.process3 { fill:rgb(180,180,180); fill-opacity:0.5; stroke-width:0;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.sample   { fill:rgb(  0,  0,255); fill-opacity:0.8; stroke-width:0;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.sample_hi{ fill:rgb(255,128,  0); fill-opacity:0.8; stroke-width:0;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.error    { fill:rgb(255,  0,  0); fill-opacity:0.5; stroke-width:0;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.net      { fill:rgb(  0,128,  0); fill-opacity:0.5; stroke-width:0;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.disk     { fill:rgb(  0,  0,255); fill-opacity:0.5; stroke-width:0;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.sync     { fill:rgb(128,128,  0); fill-opacity:0.5; stroke-width:0;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.poll     { fill:rgb(  0,128,128); fill-opacity:0.2; stroke-width:0;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.blocked  { fill:rgb(255,  0,  0); fill-opacity:0.5; stroke-width:0;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.waiting  { fill:rgb(224,214,  0); fill-opacity:0.8; stroke-width:0;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.WAITING  { fill:rgb(255,214, 48); fill-opacity:0.6; stroke-width:0;   stroke:rgb(  "
    "0,  0,  0); } \n"
    "      rect.cpu      { fill:rgb(192,192,192); fill-opacity:0.2; stroke-width:0.5; "
    "stroke:rgb(128,128,128); } \n"
    "      rect.pstate   { fill:rgb(128,128,128); fill-opacity:0.8; stroke-width:0; } \n"
    "      rect.c1       { fill:rgb(255,214,214); fill-opacity:0.5; stroke-width:0; } \n"
    "      rect.c2       { fill:rgb(255,172,172); fill-opacity:0.5; stroke-width:0; } \n"
    "      rect.c3       { fill:rgb(255,130,130); fill-opacity:0.5; stroke-width:0; } \n"
    "      rect.c4       { fill:rgb(255, 88, 88); fill-opacity:0.5; stroke-width:0; } \n"
    "      rect.c5       { fill:rgb(255, 44, 44); fill-opacity:0.5; stroke-width:0; } \n"
    "      rect.c6       { fill:rgb(255,  0,  0); fill-opacity:0.5; stroke-width:0; } \n"
    "      line.pstate   { stroke:rgb(255,255,  0); stroke-opacity:0.8; stroke-width:2; } \n"
    "    ]]>\n"
    "   </style>\n"
    "</defs>\n";
static struct pd_text *out_of(struct pd_chart *chart)
{
    return &chart->tp.out;
}

/* ---- numbers ---- */

/* What printf makes of a number with `decimals` decimals, eight at most. Without this, printf would
 * take most of the time of a picture. */
static void put_decimal(struct pd_text *out, double value, unsigned decimals)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    enum { BITS = 53, LARGEST = 32, SMALLEST = -60 }; /* of a double; 2^32 * 10^8 fits in 64 bits */
    static const uint64_t powers[] = {
        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000
    };
    int exponent = 0;
    double fraction = frexp(value, &exponent);
    if (!signbit(value) && isfinite(value) && exponent <= LARGEST && exponent > SMALLEST) {
        unsigned down = (unsigned)(BITS - exponent);
        wide scaled = (wide)(uint64_t)ldexp(fraction, BITS) * powers[decimals];
        wide rest = scaled & (((wide)1 << down) - 1), half = (wide)1 << (down - 1);
        uint64_t whole = (uint64_t)(scaled >> down);
        whole += rest > half || (rest == half && whole & 1);
        pd_text_u64(out, whole / powers[decimals], 0, ' ');
        pd_text_char(out, '.');
        pd_text_u64(out, whole % powers[decimals], decimals, '0');
        return;
    }
#endif
    pd_text_format(out, "%.*f", (int)decimals, value);
}

/* Like pd_text_format(), but only with %s, %u, %d and %.Nf, N from 1 to 8. */
__attribute__((format(printf, 2, 3))) static void put(struct pd_text *out, const char *form, ...)
{
    va_list values;
    va_start(values, form);
    for (const char *percent; (percent = strchr(form, '%')) != NULL;) {
        pd_text_bytes(out, form, (size_t)(percent - form));
        form = percent + 2;
        if (percent[1] == 's') {
            pd_text_string(out, va_arg(values, const char *));
        } else if (percent[1] == 'u') {
            pd_text_u64(out, va_arg(values, unsigned), 0, ' ');
        } else if (percent[1] == 'd') {
            pd_text_format(out, "%d", va_arg(values, int));
        } else {
            put_decimal(out, va_arg(values, double), (unsigned)(percent[2] - '0'));
            form = percent + 4;
        }
    }
    pd_text_string(out, form);
    va_end(values);
}

/* ---- places and sizes ---- */

/* The picture begins at a whole tenth of a second. */
static uint64_t left_end(const struct pd_chart *chart)
{
    return chart->first - chart->first % 100000000;
}

/* A time before the left end wraps around, as in perf. */
static double x_of(const struct pd_chart *chart, uint64_t time)
{
    uint64_t from = left_end(chart);
    return 1.0 * chart->width * (double)(time - from) / (double)(chart->last - from);
}

enum { SMALLEST_TEXT = 100 }; /* 1/SMALLEST_TEXT points */

/* The largest of the sizes 10, 5, 2.5 ... points that is not above `size`; 0: it would be too small
 * to be seen. */
static double text_size(double size)
{
    double fits = 10;
    if (size >= fits)
        return size;
    for (int i = 0; i < 100 && size < fits; i++)
        fits /= 2;
    return size < fits ? size : fits;
}

static bool is_seen(double size)
{
    return size > 1.0 / SMALLEST_TEXT;
}

static double at_most(double size, double most)
{
    return text_size(size > most ? most : size);
}

static double row_y(uint32_t row)
{
    return (double)row * ROW;
}

static double cpu_y(const struct pd_chart *chart, uint32_t cpu)
{
    return (double)chart->places[cpu] * ROW * 2 + ROW;
}

static void put_time(struct pd_text *out, uint64_t time)
{
    if (time < 1000)
        return; /* perf has no words for it */
    if (time < 1000000)
        pd_text_format(out, "%.1f us", (double)time / 1000);
    else
        pd_text_format(out, "%.1f ms", (double)time / 1000000);
}

static void put_chain(struct pd_chart *chart, const char *title, uint32_t chain)
{
    struct pd_text *out = out_of(chart);
    pd_text_format(out, "<desc>%s", title);
    if (chain != PD_CHART_NONE)
        pd_text_string(out, pd_intern_text(&chart->chains, chain));
    pd_text_string(out, "</desc>\n");
}

/* A task can give itself any name, so characters that XML reserves are written as XML asks, though
 * perf does not do so. */
static void put_name(struct pd_chart *chart, const struct pd_chart_name *name)
{
    struct pd_text *out = out_of(chart);
    if (name->text == PD_INTERN_NONE)
        return;
    const char *text = pd_intern_text(&chart->texts, name->text);
    if (chart->tp.recording->like_perf)
        pd_text_string(out, text);
    else
        pd_text_xml(out, text, strlen(text));
}

/* ---- the whole ---- */

void pd_svg_begin(struct pd_chart *chart, uint32_t rows)
{
    struct pd_text *out = out_of(chart);
    pd_text_string(out, "<?xml version=\"1.0\" standalone=\"no\"?> \n"
                        "<!DOCTYPE svg SYSTEM "
                        "\"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd\">\n");
    pd_text_format(out,
                   "<svg width=\"%u\" height=\"%llu\" version=\"1.1\" "
                   "xmlns=\"http://www.w3.org/2000/svg\">\n",
                   chart->width, (unsigned long long)rows * ROW);
    pd_text_string(out, style);
}

/* How many nanoseconds lie from line to line: perf's 10 ms, or ten times that, and so on, until
 * there are at most a million lines. A damaged time may be years away from the others. */
static uint64_t grid_step(const struct pd_chart *chart, uint64_t least)
{
    enum { MOST_LINES = 1000000 };
    uint64_t left = left_end(chart), span = chart->last > left ? chart->last - left : 0;
    uint64_t step = least;
    while (span / step > MOST_LINES)
        step *= 10;
    if (step > least)
        pd_issue(&chart->tp.recording->context, PERFDATA_ISSUE_LIMIT, -1,
                 "the picture spans %.0f s: it has a line each %.1f s, not each 10 ms",
                 (double)span / 1e9, (double)step / 1e9);
    return step;
}

void pd_svg_grid(struct pd_chart *chart, uint32_t rows, bool coarse)
{
    enum { STEP = 10000000, TENTH = 10 * STEP, SECOND = 10 * TENTH };
    const uint64_t left = left_end(chart), step = grid_step(chart, STEP);
    const uint64_t lines = chart->last > left ? (chart->last - left - 1) / step + 1 : 0;
    for (uint64_t line = 0; line < lines; line++) {
        const uint64_t time = left + line * step;
        int gray = 220;
        double thickness = 0.075;
        if (time % TENTH == 0) {
            gray = 192;
            thickness = 0.5;
        }
        if (time % SECOND == 0) {
            gray = 128;
            thickness = 2;
        }
        if (coarse && thickness < 0.5)
            continue;
        pd_text_format(out_of(chart),
                       "<line x1=\"%.8f\" y1=\"%4.2f\" x2=\"%.8f\" y2=\"%llu\" "
                       "style=\"stroke:rgb(%i,%i,%i);stroke-width:%.3f\"/>\n",
                       x_of(chart, time), ROW / 2.0, x_of(chart, time),
                       (unsigned long long)rows * ROW, gray, gray, gray, thickness);
    }
}

static void put_legend_entry(struct pd_chart *chart, int x, const char *text,
                             const char *style_name)
{
    double size = HEIGHT / 2.0;
    pd_text_format(out_of(chart),
                   "<rect x=\"%i\" width=\"%.8f\" y=\"0\" height=\"%.1f\" class=\"%s\"/>\n"
                   "<text transform=\"translate(%.8f, %.8f)\" font-size=\"%.8fpt\">%s</text>\n",
                   x, size, size, style_name, x + size + 5, size, 10.0, text);
}

void pd_svg_legend(struct pd_chart *chart, bool io)
{
    pd_text_string(out_of(chart), "<g>\n");
    if (io) {
        put_legend_entry(chart, 0, "Disk", "disk");
        put_legend_entry(chart, 100, "Network", "net");
        put_legend_entry(chart, 200, "Sync", "sync");
        put_legend_entry(chart, 300, "Poll", "poll");
        put_legend_entry(chart, 400, "Error", "error");
    } else {
        put_legend_entry(chart, 0, "Running", "sample");
        put_legend_entry(chart, 100, "Idle", "c1");
        put_legend_entry(chart, 200, "Deeper Idle", "c3");
        put_legend_entry(chart, 350, "Deepest Idle", "c6");
        put_legend_entry(chart, 550, "Sleeping", "process2");
        put_legend_entry(chart, 650, "Waiting for cpu", "waiting");
        put_legend_entry(chart, 800, "Blocked on IO", "blocked");
    }
    pd_text_string(out_of(chart), "</g>\n");
}

void pd_svg_end(struct pd_chart *chart)
{
    pd_text_string(out_of(chart), "</svg>\n");
}

/* ---- processors ---- */

void pd_svg_cpu(struct pd_chart *chart, uint32_t cpu, const char *model)
{
    struct pd_text *out = out_of(chart);
    double y = cpu_y(chart, cpu);
    pd_text_string(out, "<g>\n");
    pd_text_format(out,
                   "<rect x=\"%.8f\" width=\"%.8f\" y=\"%.1f\" height=\"%.1f\" class=\"cpu\"/>\n",
                   x_of(chart, left_end(chart)),
                   x_of(chart, chart->last) - x_of(chart, left_end(chart)), y, (double)CPU_HEIGHT);
    pd_text_format(out, "<text x=\"%.8f\" y=\"%.8f\">CPU %u</text>\n",
                   10 + x_of(chart, left_end(chart)), y + HEIGHT / 2.0, cpu);
    pd_text_format(out, "<text transform=\"translate(%.8f,%.8f)\" font-size=\"1.25pt\">%s</text>\n",
                   10 + x_of(chart, left_end(chart)), y + CPU_HEIGHT - 4.0, model);
    pd_text_string(out, "</g>\n");
}

/* Spans that the user asked to see stand out. As in perf, spans in tasks' rows (no name) do so by
 * their time alone, and not if they last just the time given. */
static const char *style_of(const struct pd_chart *chart, const struct pd_chart_name *name,
                            const struct pd_chart_span *span)
{
    const struct perfdata_timechart_options *options = chart->options;
    uint64_t time = span->end - span->start, least = options->highlight_time;
    bool by_time = options->flags & PERFDATA_TIMECHART_HIGHLIGHT_TIME &&
                   (time > least || (name && time == least));
    bool by_name = name && options->highlight_name && name->text != PD_INTERN_NONE &&
                   strstr(pd_intern_text(&chart->texts, name->text), options->highlight_name);
    return by_time || by_name ? "sample_hi" : "sample";
}

void pd_svg_cpu_run(struct pd_chart *chart, const struct pd_chart_name *name,
                    const struct pd_chart_span *span)
{
    struct pd_text *out = out_of(chart);
    double x = x_of(chart, span->start), width = x_of(chart, span->end) - x;
    double size = at_most(width, 9);
    put(out, "<g transform=\"translate(%.8f,%.8f)\">\n<title>%d ", x, cpu_y(chart, span->cpu),
        (int)chart->tasks.data[name->task].pid);
    put_name(chart, name);
    pd_text_string(out, " running ");
    put_time(out, span->end - span->start);
    pd_text_string(out, "</title>\n");
    put_chain(chart, "Switched because:\n", span->chain);
    put(out, "<rect x=\"0\" width=\"%.8f\" y=\"0\" height=\"%.1f\" class=\"%s\"/>\n", width,
        (double)CPU_HEIGHT, style_of(chart, name, span));
    if (is_seen(size)) {
        put(out, "<text transform=\"rotate(90)\" font-size=\"%.8fpt\">", size);
        put_name(chart, name);
        pd_text_string(out, "</text>\n");
    }
    pd_text_string(out, "</g>\n");
}

static void put_idle(struct pd_chart *chart, const struct pd_chart_power *power)
{
    struct pd_text *out = out_of(chart);
    double x = x_of(chart, power->start), width = x_of(chart, power->end) - x;
    double size = at_most(width / 2, 6), y = cpu_y(chart, power->cpu);
    uint32_t depth = PD_MIN(power->state, 6);
    pd_text_string(out, "<g>\n");
    put(out, "<rect class=\"c%u\" x=\"%.8f\" width=\"%.8f\" y=\"%.1f\" height=\"%.1f\"/>\n", depth,
        x, width, y, (double)CPU_HEIGHT);
    if (is_seen(size))
        put(out, "<text x=\"%.8f\" y=\"%.8f\" font-size=\"%.8fpt\">C%u</text>\n", x, y + size, size,
            depth);
    pd_text_string(out, "</g>\n");
}

static void put_frequency_text(struct pd_chart *chart, uint32_t frequency)
{
    enum { MEGA = 1000, GIGA_FROM = 1500000 };
    struct pd_text *out = out_of(chart);
    if (frequency == chart->turbo_frequency)
        pd_text_string(out, "Turbo");
    else if (frequency > GIGA_FROM)
        pd_text_format(out, "%7.2f Ghz", (frequency + 5000.0) / 1000000);
    else if (frequency > MEGA)
        pd_text_format(out, "%7u Mhz", (frequency + MEGA / 2) / MEGA);
    else
        pd_text_format(out, "%9u", frequency);
}

static void put_frequency(struct pd_chart *chart, const struct pd_chart_power *power)
{
    struct pd_text *out = out_of(chart);
    double height = chart->most_frequency
                        ? power->state * 1.0 / chart->most_frequency * (ROW + HEIGHT)
                        : 0;
    double y = 1 + cpu_y(chart, power->cpu) + CPU_HEIGHT - height;
    put(out,
        "<g>\n<line x1=\"%.8f\" x2=\"%.8f\" y1=\"%.1f\" y2=\"%.1f\" "
        "class=\"pstate\"/>\n",
        x_of(chart, power->start), x_of(chart, power->end), y, y);
    put(out, "<text x=\"%.8f\" y=\"%.8f\" font-size=\"0.25pt\">", x_of(chart, power->start),
        y + 0.9);
    put_frequency_text(chart, power->state);
    pd_text_string(out, "</text>\n</g>\n");
}

void pd_svg_power(struct pd_chart *chart, const struct pd_chart_power *power)
{
    if (power->frequency)
        put_frequency(chart, power);
    else
        put_idle(chart, power);
}

/* ---- tasks ---- */

void pd_svg_box(struct pd_chart *chart, const struct pd_chart_name *name, const char *style_name)
{
    double x = x_of(chart, name->start), width = x_of(chart, name->end) - x;
    put(out_of(chart),
        "<rect x=\"%.8f\" width=\"%.8f\" y=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n", x, width,
        row_y(name->row), (double)HEIGHT, style_name);
}

static void put_run(struct pd_chart *chart, const struct pd_chart_name *name,
                    const struct pd_chart_span *span)
{
    struct pd_text *out = out_of(chart);
    double x = x_of(chart, span->start), width = x_of(chart, span->end) - x;
    double size = at_most(width, 1.25);
    put(out, "<g>\n<title>#%u running ", span->cpu);
    put_time(out, span->end - span->start);
    pd_text_string(out, "</title>\n");
    put_chain(chart, "Switched because:\n", span->chain);
    put(out, "<rect x=\"%.8f\" width=\"%.8f\" y=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n", x,
        width, row_y(name->row), (double)HEIGHT, style_of(chart, NULL, span));
    if (is_seen(size))
        put(out, "<text x=\"%.8f\" y=\"%.8f\" font-size=\"%.8fpt\">%d</text>\n", x,
            row_y(name->row) + HEIGHT - 1, size, span->cpu + 1);
    pd_text_string(out, "</g>\n");
}

static void put_wait(struct pd_chart *chart, const struct pd_chart_name *name,
                     const struct pd_chart_span *span)
{
    enum { LONG = 10000000 };
    struct pd_text *out = out_of(chart);
    double x = x_of(chart, span->start), width = x_of(chart, span->end) - x;
    double size = at_most(width, 3);
    uint64_t time = span->end - span->start;
    put(out, "<g transform=\"translate(%.8f,%.8f)\">\n<title>#%u waiting ", x, row_y(name->row),
        span->cpu);
    put_time(out, time);
    pd_text_string(out, "</title>\n");
    put_chain(chart, "Waiting on:\n", span->chain);
    put(out, "<rect x=\"0\" width=\"%.8f\" y=\"0\" height=\"%.1f\" class=\"%s\"/>\n", width,
        (double)HEIGHT, time > LONG ? "WAITING" : "waiting");
    if (is_seen(size)) {
        put(out, "<text transform=\"rotate(90)\" font-size=\"%.8fpt\"> ", size);
        put_time(out, time);
        pd_text_string(out, "</text>\n");
    }
    pd_text_string(out, "</g>\n");
}

static void put_block(struct pd_chart *chart, const struct pd_chart_name *name,
                      const struct pd_chart_span *span)
{
    struct pd_text *out = out_of(chart);
    double x = x_of(chart, span->start);
    put(out, "<g>\n<title>#%u blocked ", span->cpu);
    put_time(out, span->end - span->start);
    pd_text_string(out, "</title>\n");
    if (span->chain != PD_CHART_NONE)
        put_chain(chart, "Blocked on:\n", span->chain);
    put(out,
        "<rect x=\"%.8f\" width=\"%.8f\" y=\"%.1f\" height=\"%.1f\" class=\"blocked\"/>\n</g>\n", x,
        x_of(chart, span->end) - x, row_y(name->row), (double)HEIGHT);
}

void pd_svg_span(struct pd_chart *chart, const struct pd_chart_name *name,
                 const struct pd_chart_span *span)
{
    switch (span->state) {
    case PD_CHART_RUNNING: put_run(chart, name, span); break;
    case PD_CHART_WAITING: put_wait(chart, name, span); break;
    default: put_block(chart, name, span); break;
    }
}

/* ---- system calls ---- */

/* The height of a bar, as a part of half a row. As in perf, the largest ones are drawn like those
 * that failed. */
static double io_part(const struct pd_chart_name *name, const struct pd_chart_io *io)
{
    enum { QUARTERS = 4 };
    uint64_t most = name->most_bytes, quarter = 0, scaled;
    if (io->kind == PD_CHART_SYNC || io->kind == PD_CHART_POLL)
        return 0.2;
    if (most)
        quarter = pd_mul_overflows(io->bytes, (uint64_t)QUARTERS, &scaled)
                      ? io->bytes / (most / QUARTERS)
                      : scaled / most;
    if (io->error || quarter >= QUARTERS - 1)
        return 0.1;
    return (double)(quarter + 1) / QUARTERS;
}

void pd_svg_io(struct pd_chart *chart, const struct pd_chart_name *name,
               const struct pd_chart_io *io)
{
    static const char *const styles[] = { "disk", "disk", "sync", "net", "net", "poll" };
    double x = x_of(chart, io->start), height = HEIGHT / 2.0 * io_part(name, io);
    double y = row_y(name->row);
    if (io->kind != PD_CHART_READ && io->kind != PD_CHART_RX)
        y += HEIGHT - height;
    put(out_of(chart), "<g>\n<title>fd=%d error=%d merges=%u</title>\n", io->fd, io->error,
        io->merges);
    put(out_of(chart),
        "<rect x=\"%.8f\" width=\"%.8f\" y=\"%.1f\" height=\"%.1f\" class=\"%s\"/>\n</g>\n", x,
        x_of(chart, io->end) - x, y, height, io->error ? "error" : styles[io->kind]);
}

/* ---- texts and arrows ---- */

void pd_svg_label(struct pd_chart *chart, const struct pd_chart_name *name, const char *figures)
{
    put(out_of(chart), "<text x=\"%.8f\" y=\"%.8f\">", x_of(chart, name->start),
        row_y(name->row) + HEIGHT / 2.0);
    put_name(chart, name);
    put(out_of(chart), "%s</text>\n", figures);
}

static void put_arrow_line(struct pd_chart *chart, double x, double from, double to)
{
    put(out_of(chart),
        "<line x1=\"%.8f\" y1=\"%.2f\" x2=\"%.8f\" y2=\"%.2f\" "
        "style=\"stroke:rgb(32,255,32);stroke-width:0.009\"/>\n",
        x, from, x, to);
}

static void put_task_name(struct pd_chart *chart, const struct pd_chart_name *name, uint32_t pid)
{
    if (name && name->text != PD_INTERN_NONE)
        put_name(chart, name);
    else
        put(out_of(chart), "[%d]", (int)pid);
}

static void put_arrow_text(struct pd_chart *chart, double x, double y,
                           const struct pd_chart_name *name, uint32_t pid, const char *head)
{
    const double size = 0.02;
    put(out_of(chart),
        "<g transform=\"translate(%.8f,%.8f)\"><text transform=\"rotate(90)\" "
        "font-size=\"%.2fpt\">",
        x, y, size);
    put_task_name(chart, name, pid);
    put(out_of(chart), " %s</text></g>\n", head);
}

static void put_arrow_start(struct pd_chart *chart, double x, double y)
{
    put(out_of(chart),
        "<circle  cx=\"%.8f\" cy=\"%.2f\" r = \"0.01\"  "
        "style=\"fill:rgb(32,255,32)\"/>\n",
        x, y);
}

static void put_arrow_title(struct pd_chart *chart, const struct pd_chart_name *waker,
                            const struct pd_chart_name *wakee, uint32_t pid)
{
    pd_text_string(out_of(chart), "<title>");
    put_task_name(chart, waker, 0);
    pd_text_string(out_of(chart), " wakes up ");
    put_task_name(chart, wakee, pid);
    pd_text_string(out_of(chart), "</title>\n");
}

/* Draws an arrow's two ends, each where its task has a row, and nothing in between. Each end
 * names the task at the other. */
static void put_arrow_ends(struct pd_chart *chart, const struct pd_chart_wakeup *wakeup,
                           const struct pd_chart_name *waker, const struct pd_chart_name *wakee)
{
    const double end = ROW / 32.0;
    uint32_t from = waker ? waker->row : 0, to = wakee ? wakee->row : 0, pid = wakeup->wakee;
    double x = x_of(chart, wakeup->time);
    if (from < to) {
        double above = row_y(from) + HEIGHT, below = row_y(to);
        if (from) {
            put_arrow_line(chart, x, above, above + end);
            put_arrow_text(chart, x, above + HEIGHT / 48.0, wakee, pid, "&gt;");
        }
        put_arrow_line(chart, x, below - end, below);
        put_arrow_text(chart, x, below - end, waker, 0, "&gt;");
        return;
    }
    double above = row_y(to) + HEIGHT, below = row_y(from);
    if (to) {
        put_arrow_line(chart, x, above, above + end);
        put_arrow_text(chart, x, above + ROW / 48.0, waker, 0, "&lt;");
    }
    if (from) {
        put_arrow_line(chart, x, below - end, below);
        put_arrow_text(chart, x, below - HEIGHT / 32.0, wakee, pid, "&lt;");
    }
}

void pd_svg_wakeup(struct pd_chart *chart, const struct pd_chart_wakeup *wakeup,
                   const struct pd_chart_name *waker, const struct pd_chart_name *wakee)
{
    uint32_t from = waker ? waker->row : 0, to = wakee ? wakee->row : 0;
    double x = x_of(chart, wakeup->time);
    bool down = from < to;
    bool neighbours = from && to && (down ? to - from : from - to) == 1;
    pd_text_string(out_of(chart), "<g>\n");
    if (!neighbours)
        put_arrow_title(chart, waker, wakee, wakeup->wakee);
    put_chain(chart, "", wakeup->chain);
    if (neighbours)
        put_arrow_line(chart, x, row_y(down ? from : to) + HEIGHT, row_y(down ? to : from));
    else
        put_arrow_ends(chart, wakeup, waker, wakee);
    if (from)
        put_arrow_start(chart, x, row_y(from) + (down ? HEIGHT : 0));
    pd_text_string(out_of(chart), "</g>\n");
}
