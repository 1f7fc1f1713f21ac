/* SPDX-License-Identifier: MIT */
/* libtraceevent loses a few bytes of formats that do not parse: its leak, not ours. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void) /* NOLINT: the name is the sanitizer's */
{
    return "leak:libtraceevent.so\n";
}
