/* SPDX-License-Identifier: MIT */
/* perfconfig: sections, values, quotes, comments, what does not parse, and which files count. */
#include "io/config.h"
#include "base/text.h"
#include "test.h"
#include <sys/stat.h>
#include <unistd.h>

static int add(void *data, const char *key, const char *value)
{
    pd_text_format(data, "%s=%s;", key, value);
    return !strcmp(key, "stop.here") ? 7 : 0;
}

static void check(const char *text, bool good, const char *expected)
{
    struct pd_text all = { 0 };
    int result;
    unsigned line;
    CHECK(pd_config_parse(text, strlen(text), add, &all, &result, &line) == good);
    pd_text_char(&all, 0);
    CHECK_STR(all.data, expected);
    pd_text_free(&all);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void check_places(void)
{
    struct pd_context context;
    struct pd_text all = { 0 };
    pd_context_init(&context);
    CHECK(mkdir("config-home", 0700) == 0);
    write_file("config-home/.perfconfig", "[a]\nb = home\n");
    write_file("config-only", "[a]\nb = only\n");
    struct pd_config_places places = { .system = "config-none", .home = "config-home" };
    CHECK(pd_config_read(&context, &places, add, &all) == 0);
    places.only = "config-only";
    CHECK(pd_config_read(&context, &places, add, &all) == 0);
    write_file("config-only", "[a\nb = only\n");
    CHECK(pd_config_read(&context, &places, add, &all) == 0); /* an issue, no error */
    pd_text_char(&all, 0);
    CHECK_STR(all.data, "a.b=home;a.b=only;");
    CHECK(context.issue_count[PERFDATA_ISSUE_CONFIG] == 1);
    unlink("config-home/.perfconfig");
    rmdir("config-home");
    unlink("config-only");
    pd_text_free(&all);
    pd_context_fini(&context);
}

int main(void)
{
    check("[intel-pt]\n\tmispred-all = on\n  max-loops=5\r\nempty =\n", true,
          "intel-pt.mispred-all=on;intel-pt.max-loops=5;intel-pt.empty=;");
    check("[a]\nk = 1\nalone\nl = 2\n", false, "a.k=1;");
    check("# word\n; word\n[A]\nKey = a b  # not this\nk = \"x ; y \" z\n", true,
          "a.key=a b;a.k=x ; y  z;");
    check("[a \"Sub.X\"]\nk = q\\\\\\tr\\\ns", true, "a.Sub.X.k=q\\\trs;");
    check("[stop]\nhere = 1\nthere = 2\n", true, "stop.here=1;");
    check("[a]\n= 1\n", false, "");
    check("k = 1\n", false, "");
    check("[a]\nk = \"open\n", false, "");
    check("", true, "");
    check_places();
    return test_done();
}
