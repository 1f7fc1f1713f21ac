/* SPDX-License-Identifier: MIT */
/* Text recordings: any perf.data as readable text that gives the same bytes again. */
#ifndef PERFDATA_TEXT_RECORDING_H
#define PERFDATA_TEXT_RECORDING_H
#include <perfdata/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The name of file `index` of a recording: "data", then "data.0", "data.1" ... of a directory; NULL
 * beyond the last. The recording's, until it is closed. Since 0.1. */
PERFDATA_API const char *perfdata_textrec_file(const perfdata_recording *recording, size_t index);

/* Prints one file of the recording as a text recording; *plain (may be NULL): items that could only
 * be written as hexadecimal bytes. A recording that could not be opened since its bytes are no
 * perf.data can be printed, too: as bytes.
 *   PERFDATA_ERROR_UNSUPPORTED  it comes through a pipe and cannot be read twice
 *   PERFDATA_ERROR_ARGUMENT     there is no file `index`
 *   PERFDATA_ERROR_OUTPUT       write() wanted no more
 * and what reading fails with. Since 0.1. */
PERFDATA_API perfdata_status perfdata_textrec_print(perfdata_recording *recording, size_t index,
                                                    perfdata_write_fn write, void *data,
                                                    uint64_t *plain);

/* Prints it to the file `path`, which is written beside and takes its name when it is complete,
 * with the mode that the umask leaves; a pipe, FIFO or device is written into, "-" is standard
 * output. Errors are those of perfdata_textrec_print(), and
 *   PERFDATA_ERROR_OUTPUT  `path` cannot be written; perfdata_recording_error() says why
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_textrec_write(perfdata_recording *recording, size_t index,
                                                    const char *path, uint64_t *plain);

/* What and where: see perfdata_textrec_assemble(). Since 0.1. */
struct perfdata_textrec_error {
    size_t struct_size;
    uint64_t line, column; /* from 1; 0: not in the text */
    char message[384];     /* with the file's name */
};

/* Makes the recording `output` ("-": standard output) of the text recording `input` ("-": standard
 * input). A file is written beside, with mode 0600, and takes its name when it is complete; a pipe,
 * FIFO or device gets the same bytes once all are known. `error` (may be NULL) tells what is wrong.
 *   PERFDATA_ERROR_NOT_PERF_DATA  the text is none, or not right
 *   PERFDATA_ERROR_OUTPUT         `output` cannot be written
 * and what reading fails with. Since 0.1. */
PERFDATA_API perfdata_status perfdata_textrec_assemble(const char *input, const char *output,
                                                       struct perfdata_textrec_error *error);

#ifdef __cplusplus
}
#endif
#endif
