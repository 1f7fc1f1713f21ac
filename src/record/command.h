/* SPDX-License-Identifier: MIT */
/* The command that is recorded: made, held in front of its exec, let go, waited for. */
#ifndef PD_RECORD_COMMAND_H
#define PD_RECORD_COMMAND_H
#include "record/record.h"

perfdata_status pd_command_fork(perfdata_recorder *recorder);
/* Fails when its exec did. */
perfdata_status pd_command_go(perfdata_recorder *recorder);
/* Asks whether it has ended. */
void pd_command_poll(perfdata_recorder *recorder);
/* Ends it, if it did not end by itself. */
void pd_command_end(perfdata_recorder *recorder);

#endif
