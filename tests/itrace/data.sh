# SPDX-License-Identifier: MIT
# Sourced by tests that compare what two programs wrote: data FILE prints the records of a
# recording.
number() { # of 8 bytes at an offset
    od -An -t u8 -j "$2" -N 8 "$1" | tr -d ' '
}

data() {
    if [ -d "$1" ]; then # with a copy of the kernel beside it
        data "$1/data"
        return
    fi
    tail -c "+$(($(number "$1" 40) + 1))" "$1" | head -c "$(number "$1" 48)"
}
