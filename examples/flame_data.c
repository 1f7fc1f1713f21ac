/* SPDX-License-Identifier: MIT */
/* Prints the data of a flame graph: "main;work;loop PERIOD" for each call path in which a program
 * was.
 *     cc flame_data.c $(pkg-config --cflags --libs perfdata) -o flame_data
 *     ./flame_data perf.data [SYMFS [KALLSYMS]] */
#include <perfdata/perfdata.h>
#include <inttypes.h>
#include <stdio.h>

/* The names from the root to a node: parents come before their children. */
static void print_path(const perfdata_profile *profile, const struct perfdata_node *nodes,
                       uint32_t at)
{
    uint32_t path[1024], depth = 0;
    for (; at != PERFDATA_NONE && depth < 1024; at = nodes[at].parent)
        path[depth++] = nodes[at].key;
    while (depth--)
        printf("%s%s", perfdata_profile_function(profile, path[depth])->name, depth ? ";" : " ");
}

int main(int argc, char **argv)
{
    struct perfdata_profile_options options = PERFDATA_PROFILE_OPTIONS_INIT;
    struct perfdata_query query = PERFDATA_QUERY_INIT;
    struct perfdata_node *nodes = NULL;
    perfdata_profile *profile = NULL;
    perfdata_recording *recording;
    size_t count = 0, i;
    int status = perfdata_recording_open(argc > 1 ? argv[1] : "perf.data", NULL, &recording);
    options.search.symfs = argc > 2 ? argv[2] : NULL;
    options.search.kallsyms = argc > 3 ? argv[3] : NULL;
    if (status == 0)
        status = perfdata_profile_build(recording, &options, &profile);
    if (status == 0)
        status = perfdata_profile_tree(profile, &query, &nodes, &count);
    for (i = 0; i < count; i++) {
        if (nodes[i].self_weight == 0)
            continue;
        print_path(profile, nodes, (uint32_t)i);
        printf("%" PRIu64 "\n", nodes[i].self_weight);
    }
    if (status < 0)
        fprintf(stderr, "%s\n", perfdata_recording_error(recording, NULL));
    perfdata_rows_free(nodes);
    perfdata_profile_free(profile);
    perfdata_recording_close(recording);
    return status < 0;
}
