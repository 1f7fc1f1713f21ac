#!/bin/sh
# SPDX-License-Identifier: MIT
# Side by side with the installed perf, to the last byte: conform.sh OPTION...
set -u
if [ -z "${PERFDATA_CORPUS-}" ] || [ -z "${PERFDATA_TOOLS-}" ] ||
    [ ! -f "$PERFDATA_TOOLS/conform" ]; then
    echo 'skipped: PERFDATA_CORPUS or PERFDATA_TOOLS is not set'
    exit 77
fi
case $(perf --version 2>/dev/null) in
'perf version 6.1'*) ;;
*) echo 'skipped: no perf 6.1 to compare with'; exit 77 ;;
esac
# perf prints memory that it has not written: "[...] (inlined)", where meson has it filled.
unset MALLOC_PERTURB_
command -v python3 >/dev/null || { echo 'skipped: conform needs python3'; exit 77; }
without=zstd,dwarf,tracepoint,pipe,dir,trunc,noise,size-field,length-field,type-field,data-size-0
exec python3 "$PERFDATA_TOOLS/conform" --perfdata "$PERFDATA" \
    --recordings "$PERFDATA_CORPUS/${CONFORM_FOLDER-own}" --without "${CONFORM_WITHOUT-$without}" \
    --jobs 2 --require all=100 "$@"
