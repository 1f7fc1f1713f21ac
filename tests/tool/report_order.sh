#!/bin/sh
# SPDX-License-Identifier: MIT
# Rows of equal weight in report, beside the installed perf's; arguments as of report_order.py.
command -v nm >/dev/null || { echo 'skipped: no nm'; exit 77; }
exec python3 "$SOURCE/tests/tool/report_order.py" "$@"
