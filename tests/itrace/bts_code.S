/* SPDX-License-Identifier: MIT */
/* Instructions that branch, each with a name that begins with "b_", and functions they lead to. It
 * is read, never run. */
        .text
        .globl _start
        .type _start, @function
_start:
b_call: call middle
b_jmp:  jmp b_jne
b_jne:  jne b_jump
b_jump: jmp *%rax
b_icall: call *%rax
b_syscall: syscall
b_int3: int3
b_loop: loop b_jne
        nop
        .size _start, .-_start
        .type middle, @function
middle:
b_leaf: call leaf
        nop
b_ret:  ret
        .size middle, .-middle
        .type leaf, @function
leaf:   nop
b_jrcxz: jrcxz leaf
b_ret2: ret
        .size leaf, .-leaf
        .type odd, @function
odd:
b_iret: iretq
b_sysret: sysretq
b_sysenter: sysenter
b_int:  int $0x80
b_far:  ljmp *(%rax)
b_none: nop
b_xbegin: xbegin odd
        ud2
        .size odd, .-odd
