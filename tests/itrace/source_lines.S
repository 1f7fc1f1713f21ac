/* SPDX-License-Identifier: MIT */
/* Instructions that say which lines of files they are of; pt_source.sh makes those files. */
        .text
        .globl _start
        .type _start, @function
# 2 "start.c"
_start: mov $2, %ecx
# 3 "start.c"
again:  nop
# 3 "start.c"
        nop
# 40 "other.c"
        nop
# 3 "start.c"
        dec %ecx
# 3 "start.c"
        jne again
# 12345 "start.c"
        nop
/* behind its end */
# 20001 "start.c"
        nop
# 1 "there_is_no_such_file.c"
        nop
# 2 "there_is_no_such_file.c"
        nop
/* lines that are empty, blank, with more than text */
# 4 "blank.c"
        nop
# 3 "blank.c"
        nop
# 2 "blank.c"
        nop
# 1 "blank.c"
        nop
# 2 "a_file_with_quite_a_long_name_and_a_longer_one_still.c"
        nop
        .globl a_function_with_a_name_that_is_longer_than_the_column
        .type a_function_with_a_name_that_is_longer_than_the_column, @function
a_function_with_a_name_that_is_longer_than_the_column:
# 5 "start.c"
        call without_lines
# 5 "start.c"
        call without_symbols
# 6 "start.c"
        call without_symbols
# 6 "start.c"
        nop
# 7 "start.c"
        mov $60, %eax
# 7 "start.c"
        syscall
        .size _start, .-_start
