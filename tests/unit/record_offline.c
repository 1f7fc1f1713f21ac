/* SPDX-License-Identifier: MIT */
/* A CPU that goes offline before its events are opened. */
#include "fake_pt.h"

int main(void)
{
    make_root();
    perfdata_recorder *recorder = open_recorder(
        "{cpu-clock,cs}",
        (struct perfdata_recorder_options){ .flags = PERFDATA_RECORDER_ALL_CPUS });
    fake.offline = 1;
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    CHECK_U64(fake.calls, 3); /* two of the group and the dummy, on CPU 0 */
    CHECK_U64(fake.maps, 1);
    CHECK_STR(fake.told, "WARNING: CPU 1 has gone offline, it is left out\n");
    CHECK(finish(recorder) == PERFDATA_OK);
    perfdata_recorder_close(recorder);
    recorder = open_recorder("cpu-clock", (struct perfdata_recorder_options){
                                              .flags = PERFDATA_RECORDER_ALL_CPUS, .cpus = "0,1" });
    fake.offline = 1;
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_ERROR_UNSUPPORTED);
    CHECK_STR(perfdata_recorder_error(recorder),
              "CPU 1 is not online.\nHint: /sys/devices/system/cpu/online lists those that are; "
              "choose among them with -C");
    perfdata_recorder_close(recorder);
    remove_root();
    return test_done();
}
