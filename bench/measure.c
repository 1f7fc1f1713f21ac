/* SPDX-License-Identifier: MIT */
/* measure PAIRS COMMAND... -- COMMAND...: runs the two in turn, output thrown away, and prints the
 * medians over the pairs:
 *     cpu A B RATIO / wall A B RATIO / memory A B RATIO
 *         (seconds, seconds, KiB; RATIO = A / B of each pair)
 * Exit 3 when a command fails. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CPU, WALL, MEMORY, FIGURES, PAIRS_MAX = 99 };
static const char *const names[FIGURES] = { "cpu", "wall", "memory" };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void run(char **command, double *figures)
{
    struct rusage usage;
    int status;
    double begin = now();
    pid_t child = fork();
    if (!child) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        execvp(command[0], command);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        exit(3);
    figures[WALL] = now() - begin;
    figures[CPU] = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    figures[MEMORY] = (double)usage.ru_maxrss;
    if (!WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "measure: %s fails\n", command[0]);
        exit(3);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

int main(int argc, char **argv)
{
    static double a[PAIRS_MAX][FIGURES], b[PAIRS_MAX][FIGURES];
    int pairs = argc > 1 ? atoi(argv[1]) : 0, split = 2;
    while (split < argc && strcmp(argv[split], "--"))
        split++;
    if (pairs < 1 || pairs > PAIRS_MAX || split < 3 || split + 1 >= argc) {
        fprintf(stderr, "usage: measure PAIRS COMMAND... -- COMMAND...\n");
        return 2;
    }
    argv[split] = NULL;
    for (int i = 0; i < pairs; i++) {
        run(argv + 2, a[i]);
        run(argv + split + 1, b[i]);
    }
    for (int f = 0; f < FIGURES; f++) {
        double x[PAIRS_MAX], y[PAIRS_MAX], ratio[PAIRS_MAX];
        for (int i = 0; i < pairs; i++) {
            x[i] = a[i][f];
            y[i] = b[i][f];
            ratio[i] = y[i] > 0 ? x[i] / y[i] : 0;
        }
        printf("%s %.3f %.3f %.2f\n", names[f], median(x, pairs), median(y, pairs),
               median(ratio, pairs));
    }
    return 0;
}
