/* SPDX-License-Identifier: MIT */
/* A command line -> a process that waits before its exec until it is let go. */
#include "record/command.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between fork and exec only what is async-signal-safe. */
static _Noreturn void run_child(const char *const *command, int go, int error)
{
    char byte;
    ssize_t got;
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)prctl(PR_SET_NAME, "perf-exec");
    do {
        got = read(go, &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1)
        _exit(1); /* the recorder gave up */
    execvp(command[0], (char *const *)(uintptr_t)command);
    int why = errno;
    (void)!write(error, &why, sizeof why);
    _exit(127);
}

perfdata_status pd_command_fork(perfdata_recorder *recorder)
{
    int go[2], error[2];
    if (pipe2(go, O_CLOEXEC) < 0)
        return pd_fail(&recorder->context, PERFDATA_ERROR_LIMIT, -1,
                       "failed to create 'ready' pipe: %s", strerrordesc_np(errno));
    if (pipe2(error, O_CLOEXEC) < 0) {
        close(go[0]);
        close(go[1]);
        return pd_fail(&recorder->context, PERFDATA_ERROR_LIMIT, -1,
                       "failed to create 'go' pipe: %s", strerrordesc_np(errno));
    }
    recorder->command.child = fork();
    if (!recorder->command.child) {
        close(go[1]); /* else it would wait for itself */
        close(error[0]);
        run_child(recorder->options.command, go[0], error[1]);
    }
    close(go[0]);
    close(error[1]);
    recorder->command.child_go = go[1];
    recorder->command.child_error = error[0];
    if (recorder->command.child < 0) {
        recorder->command.child = 0;
        return pd_fail(&recorder->context, PERFDATA_ERROR_LIMIT, -1, "failed to fork: %s",
                       strerrordesc_np(errno));
    }
    recorder->command.child_fd = (int)syscall(SYS_pidfd_open, recorder->command.child, 0);
    return PERFDATA_OK;
}

static void wait_for(perfdata_recorder *recorder)
{
    int status;
    while (waitpid(recorder->command.child, &status, 0) < 0)
        if (errno != EINTR)
            return;
    recorder->command.child_status = status;
    recorder->command.child_done = true;
}

static perfdata_status exec_failed(perfdata_recorder *recorder, int why)
{
    struct pd_text names = { 0 };
    for (size_t i = 0; i < pd_record_event_count(recorder); i++)
        if (!pd_record_event(recorder, i)->made)
            pd_text_format(&names, "%s%s", names.length ? "," : "",
                           pd_record_event(recorder, i)->name);
    pd_text_char(&names, 0);
    perfdata_status status = pd_fail(&recorder->context, PERFDATA_ERROR_NOT_FOUND, -1,
                                     "Failed to collect '%.200s' for the '%.100s' workload: %s",
                                     names.failed ? "" : names.data, recorder->options.command[0],
                                     strerrordesc_np(why));
    pd_text_free(&names);
    return status;
}

perfdata_status pd_command_go(perfdata_recorder *recorder)
{
    char byte = 0;
    int why = 0;
    ssize_t got;
    if (!recorder->command.child)
        return PERFDATA_OK;
    (void)!write(recorder->command.child_go, &byte, 1);
    close(recorder->command.child_go);
    recorder->command.child_go = -1;
    do {
        got = read(recorder->command.child_error, &why, sizeof why);
    } while (got < 0 && errno == EINTR);
    close(recorder->command.child_error);
    recorder->command.child_error = -1;
    if (got != sizeof why)
        return PERFDATA_OK; /* closed by its exec */
    wait_for(recorder);
    return exec_failed(recorder, why);
}

void pd_command_poll(perfdata_recorder *recorder)
{
    int status;
    if (!recorder->command.child || recorder->command.child_done)
        return;
    if (waitpid(recorder->command.child, &status, WNOHANG) == recorder->command.child) {
        recorder->command.child_status = status;
        recorder->command.child_done = true;
    }
}

void pd_command_end(perfdata_recorder *recorder)
{
    if (recorder->command.child_go >= 0)
        close(recorder->command.child_go); /* one that waits ends by itself */
    if (recorder->command.child_error >= 0)
        close(recorder->command.child_error);
    if (recorder->command.child && !recorder->command.child_done) {
        (void)kill(recorder->command.child, SIGTERM);
        wait_for(recorder);
    }
    if (recorder->command.child_fd >= 0)
        close(recorder->command.child_fd);
    recorder->command.child_go = recorder->command.child_error = recorder->command.child_fd = -1;
}
