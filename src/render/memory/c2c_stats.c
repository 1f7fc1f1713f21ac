/* SPDX-License-Identifier: MIT */
/* c2c report: what an access counts for, and the tables of sums. */
#include "render/memory/c2c.h"
#include "base/hash.h"
#include "format/enums.h"

/* ---- data_src ---- */

enum {
    REMOTE_RAM = PD_MEM_LVL_REM_RAM1 | PD_MEM_LVL_REM_RAM2,
    REMOTE_CACHE = PD_MEM_LVL_REM_CCE1 | PD_MEM_LVL_REM_CCE2
};

struct source {
    uint64_t op, level, snoop, lock, blocked, more_snoop;
    bool remote;
};

static struct source split(uint64_t source)
{
    return (struct source){ .op = PD_DATA_SRC_PART(source, OP),
                            .level = PD_DATA_SRC_PART(source, LVL),
                            .snoop = PD_DATA_SRC_PART(source, SNOOP),
                            .lock = PD_DATA_SRC_PART(source, LOCK),
                            .remote = PD_DATA_SRC_PART(source, REMOTE),
                            .more_snoop = PD_DATA_SRC_PART(source, SNOOPX),
                            .blocked = PD_DATA_SRC_PART(source, BLK) };
}

static void count_hit(const struct source *source, struct pd_c2c_stats *stats)
{
    uint64_t *n = stats->n;
    uint64_t level = source->level;
    bool peer = source->more_snoop & PD_MEM_SNOOPX_PEER;
    n[PD_C2C_LD_UNCACHED] += (level & PD_MEM_LVL_UNC) != 0;
    n[PD_C2C_LD_IO] += (level & PD_MEM_LVL_IO) != 0;
    n[PD_C2C_LD_FB] += (level & PD_MEM_LVL_LFB) != 0;
    n[PD_C2C_LD_L1] += (level & PD_MEM_LVL_L1) != 0;
    n[PD_C2C_LD_L2] += (level & PD_MEM_LVL_L2) != 0;
    n[PD_C2C_LCL_PEER] += peer && level & PD_MEM_LVL_L2;
    if (level & PD_MEM_LVL_L3) {
        n[source->snoop & PD_MEM_SNOOP_HITM ? PD_C2C_LCL_HITM : PD_C2C_LD_LLC]++;
        n[PD_C2C_LCL_PEER] += peer;
    }
    if (level & PD_MEM_LVL_LOC_RAM) {
        n[PD_C2C_LCL_DRAM]++;
        n[source->snoop & PD_MEM_SNOOP_HIT ? PD_C2C_SHARED : PD_C2C_EXCLUSIVE]++;
    }
    if (level & REMOTE_RAM || source->remote) {
        n[PD_C2C_RMT_DRAM]++;
        n[source->snoop & PD_MEM_SNOOP_HIT ? PD_C2C_SHARED : PD_C2C_EXCLUSIVE]++;
    }
}

static void count_load(const struct source *source, struct pd_c2c_stats *stats)
{
    uint64_t *n = stats->n;
    if (source->level & PD_MEM_LVL_HIT)
        count_hit(source, stats);
    if (source->level & REMOTE_CACHE || source->remote) {
        if (source->snoop & PD_MEM_SNOOP_HIT)
            n[PD_C2C_RMT_HIT]++;
        else if (source->snoop & PD_MEM_SNOOP_HITM)
            n[PD_C2C_RMT_HITM]++;
        else if (source->more_snoop & PD_MEM_SNOOPX_PEER) {
            n[PD_C2C_RMT_HIT]++;
            n[PD_C2C_RMT_PEER]++;
        }
    }
    n[PD_C2C_LD_MISS] += (source->level & PD_MEM_LVL_MISS) != 0;
}

static void count_store(const struct source *source, struct pd_c2c_stats *stats)
{
    uint64_t *n = stats->n;
    uint64_t level = source->level;
    if (level & PD_MEM_LVL_HIT) {
        n[PD_C2C_ST_UNCACHED] += (level & PD_MEM_LVL_UNC) != 0;
        n[PD_C2C_ST_L1] += (level & PD_MEM_LVL_L1) != 0;
    }
    n[PD_C2C_ST_L1_MISS] += level & PD_MEM_LVL_MISS && level & PD_MEM_LVL_L1;
    n[PD_C2C_ST_NA] += (level & PD_MEM_LVL_NA) != 0;
}

void pd_c2c_decode(uint64_t source, uint64_t address, struct pd_c2c_stats *stats)
{
    struct source parts = split(source);
    uint64_t *n = stats->n;
    n[PD_C2C_RECORDS]++;
    n[PD_C2C_LOCKS] += (parts.lock & PD_MEM_LOCK_LOCKED) != 0;
    n[PD_C2C_BLOCKED_DATA] += (parts.blocked & PD_MEM_BLK_DATA) != 0;
    n[PD_C2C_BLOCKED_ADDRESS] += (parts.blocked & PD_MEM_BLK_ADDR) != 0;
    if (parts.op & PD_MEM_OP_LOAD) {
        n[PD_C2C_LOADS]++;
        if (address)
            count_load(&parts, stats);
        else
            n[PD_C2C_LD_NO_ADDRESS]++;
    } else if (parts.op & PD_MEM_OP_STORE) {
        n[PD_C2C_STORES]++;
        if (address)
            count_store(&parts, stats);
        else
            n[PD_C2C_ST_NO_ADDRESS]++;
    } else {
        n[PD_C2C_NO_PARSE]++;
    }
}

static uint8_t kind_of(const uint64_t *n)
{
    return n[PD_C2C_RMT_HITM]   ? PD_C2C_CYCLES_RMT_HITM
           : n[PD_C2C_LCL_HITM] ? PD_C2C_CYCLES_LCL_HITM
           : n[PD_C2C_RMT_PEER] ? PD_C2C_CYCLES_RMT_PEER
           : n[PD_C2C_LCL_PEER] ? PD_C2C_CYCLES_LCL_PEER
           : n[PD_C2C_LOADS]    ? PD_C2C_CYCLES_LOAD
                                : PD_C2C_KINDS;
}

static void learn(struct pd_c2c_meaning *meaning, uint32_t display)
{
    struct pd_c2c_stats stats = { { 0 } };
    pd_c2c_decode(meaning->source, meaning->address, &stats);
    if (meaning->address && meaning->unmapped && (stats.n[PD_C2C_LOADS] || stats.n[PD_C2C_STORES]))
        stats.n[PD_C2C_NO_MAP]++;
    meaning->known = true;
    meaning->count = 0;
    for (unsigned i = 0; i < PD_C2C_COUNTS; i++)
        for (uint64_t k = 0; k < stats.n[i] && meaning->count < PD_C2C_HITS; k++)
            meaning->hits[meaning->count++] = (uint8_t)i;
    meaning->kind = kind_of(stats.n);
    meaning->stores = (uint8_t)stats.n[PD_C2C_STORES];
    meaning->wanted = (uint8_t)pd_c2c_wanted(&stats, display);
}

const struct pd_c2c_meaning *pd_c2c_meaning_of(struct pd_c2c_meaning *meanings, uint64_t source,
                                               bool address, bool unmapped, uint32_t display)
{
    uint64_t hash = pd_hash64(source ^ (address ? 1 : 0) ^ (unmapped ? 2 : 0));
    struct pd_c2c_meaning *meaning = &meanings[hash % PD_C2C_MEANINGS];
    if (!meaning->known || meaning->source != source || meaning->address != address ||
        meaning->unmapped != unmapped) {
        meaning->source = source;
        meaning->address = address;
        meaning->unmapped = unmapped;
        learn(meaning, display);
    }
    return meaning;
}

/* ---- tables ---- */

static void put_title(struct pd_text *out, const char *title)
{
    static const char rule[] = "=================================================\n";
    pd_text_string(out, rule);
    pd_text_string(out, title);
    pd_text_char(out, '\n');
    pd_text_string(out, rule);
}

static void put_count(struct pd_text *out, const char *name, uint64_t value)
{
    pd_text_format(out, "  %-34s: %10d\n", name, (int)value);
}

/* A share of nothing is what 0.0 / 0.0 prints on x86. */
static void put_share(struct pd_text *out, const char *name, uint64_t part, uint64_t whole)
{
    if (whole)
        pd_text_format(out, "  %-34s: %10.1f%%\n", name, (double)part / (double)whole * 100);
    else
        pd_text_format(out, "  %-34s: %10s%%\n", name, "-nan");
}

static void put_all(const struct pd_c2c_stats *all, struct pd_text *out)
{
    static const struct {
        const char *name;
        enum pd_c2c_count count;
    } loads[] = { { "Locked Load/Store Operations", PD_C2C_LOCKS },
                  { "Load Operations", PD_C2C_LOADS },
                  { "Loads - uncacheable", PD_C2C_LD_UNCACHED },
                  { "Loads - IO", PD_C2C_LD_IO },
                  { "Loads - Miss", PD_C2C_LD_MISS },
                  { "Loads - no mapping", PD_C2C_LD_NO_ADDRESS },
                  { "Load Fill Buffer Hit", PD_C2C_LD_FB },
                  { "Load L1D hit", PD_C2C_LD_L1 },
                  { "Load L2D hit", PD_C2C_LD_L2 } },
      hits[] = { { "Load Local HITM", PD_C2C_LCL_HITM },
                 { "Load Remote HITM", PD_C2C_RMT_HITM },
                 { "Load Remote HIT", PD_C2C_RMT_HIT },
                 { "Load Local DRAM", PD_C2C_LCL_DRAM },
                 { "Load Remote DRAM", PD_C2C_RMT_DRAM },
                 { "Load MESI State Exclusive", PD_C2C_EXCLUSIVE },
                 { "Load MESI State Shared", PD_C2C_SHARED } },
      peers[] = { { "Load access blocked by data", PD_C2C_BLOCKED_DATA },
                  { "Load access blocked by address", PD_C2C_BLOCKED_ADDRESS },
                  { "Load HIT Local Peer", PD_C2C_LCL_PEER },
                  { "Load HIT Remote Peer", PD_C2C_RMT_PEER } },
      stores[] = { { "Store Operations", PD_C2C_STORES },
                   { "Store - uncacheable", PD_C2C_ST_UNCACHED },
                   { "Store - no mapping", PD_C2C_ST_NO_ADDRESS },
                   { "Store L1D Hit", PD_C2C_ST_L1 },
                   { "Store L1D Miss", PD_C2C_ST_L1_MISS },
                   { "Store No available memory level", PD_C2C_ST_NA },
                   { "No Page Map Rejects", PD_C2C_NO_MAP },
                   { "Unable to parse data source", PD_C2C_NO_PARSE } };
    const uint64_t *n = all->n;
    uint64_t misses = n[PD_C2C_LCL_DRAM] + n[PD_C2C_RMT_DRAM] + n[PD_C2C_RMT_HIT] +
                      n[PD_C2C_RMT_HITM];
    put_title(out, "            Trace Event Information              ");
    put_count(out, "Total records", n[PD_C2C_RECORDS]);
    for (size_t i = 0; i < PD_LENGTH(loads); i++)
        put_count(out, loads[i].name, n[loads[i].count]);
    put_count(out, "Load LLC hit", n[PD_C2C_LD_LLC] + n[PD_C2C_LCL_HITM]);
    for (size_t i = 0; i < PD_LENGTH(hits); i++)
        put_count(out, hits[i].name, n[hits[i].count]);
    put_count(out, "Load LLC Misses", misses);
    for (size_t i = 0; i < PD_LENGTH(peers); i++)
        put_count(out, peers[i].name, n[peers[i].count]);
    put_share(out, "LLC Misses to Local DRAM", n[PD_C2C_LCL_DRAM], misses);
    put_share(out, "LLC Misses to Remote DRAM", n[PD_C2C_RMT_DRAM], misses);
    put_share(out, "LLC Misses to Remote cache (HIT)", n[PD_C2C_RMT_HIT], misses);
    put_share(out, "LLC Misses to Remote cache (HITM)", n[PD_C2C_RMT_HITM], misses);
    for (size_t i = 0; i < PD_LENGTH(stores); i++)
        put_count(out, stores[i].name, n[stores[i].count]);
}

static void put_shared(const struct pd_c2c *c2c, struct pd_text *out)
{
    struct pd_c2c_stats sum = { { 0 } };
    uint64_t lines = 0;
    for (size_t i = 0; i < c2c->lines.count; i++) {
        const struct pd_c2c_stats stats = pd_c2c_stats_of(&c2c->lines.data[i]);
        if (!pd_c2c_wanted(&stats, PERFDATA_C2C_TOTAL) && !pd_c2c_wanted(&stats, PERFDATA_C2C_PEER))
            continue;
        lines++;
        for (size_t k = 0; k < PD_C2C_COUNTS; k++)
            sum.n[k] += stats.n[k];
    }
    const uint64_t *n = sum.n;
    put_title(out, "    Global Shared Cache Line Event Information   ");
    put_count(out, "Total Shared Cache Lines", lines);
    put_count(out, "Load HITs on shared lines", n[PD_C2C_LOADS]);
    put_count(out, "Fill Buffer Hits on shared lines", n[PD_C2C_LD_FB]);
    put_count(out, "L1D hits on shared lines", n[PD_C2C_LD_L1]);
    put_count(out, "L2D hits on shared lines", n[PD_C2C_LD_L2]);
    put_count(out, "LLC hits on shared lines", n[PD_C2C_LD_LLC] + n[PD_C2C_LCL_HITM]);
    put_count(out, "Load hits on peer cache or nodes", n[PD_C2C_LCL_PEER] + n[PD_C2C_RMT_PEER]);
    put_count(out, "Locked Access on shared lines", n[PD_C2C_LOCKS]);
    put_count(out, "Blocked Access on shared lines",
              n[PD_C2C_BLOCKED_DATA] + n[PD_C2C_BLOCKED_ADDRESS]);
    put_count(out, "Store HITs on shared lines", n[PD_C2C_STORES]);
    put_count(out, "Store L1D hits on shared lines", n[PD_C2C_ST_L1]);
    put_count(out, "Store No available memory level", n[PD_C2C_ST_NA]);
    put_count(out, "Total Merged records",
              n[PD_C2C_LCL_HITM] + n[PD_C2C_RMT_HITM] + n[PD_C2C_STORES]);
}

static const char *sorted_by(const struct pd_c2c *c2c)
{
    switch (c2c->display) {
    case PERFDATA_C2C_LOCAL: return "Local HITMs";
    case PERFDATA_C2C_REMOTE: return "Remote HITMs";
    case PERFDATA_C2C_PEER: return "Peer Snoop";
    default: return "Total HITMs";
    }
}

void pd_c2c_put_stats(const struct pd_c2c *c2c, struct pd_text *out)
{
    put_all(&c2c->all, out);
    pd_text_char(out, '\n');
    put_shared(c2c, out);
    pd_text_char(out, '\n');
    put_title(out, "                 c2c details                     ");
    for (size_t i = 0; i < c2c->recording->event_count; i++)
        pd_text_format(out, "  %-34s: %s\n", i ? "" : "Events", c2c->recording->events[i]->name);
    pd_text_format(out, "  %-34s: %s\n", "Cachelines sort on", sorted_by(c2c));
    pd_text_format(out, "  %-34s: offset,%s\n", "Cacheline data grouping",
                   c2c->options->coalesce ? c2c->options->coalesce : "iaddr");
}
