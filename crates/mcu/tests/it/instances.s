@ Records of instances in hexadecimal: `emit` writes the one at R8.
    .syntax unified
    .thumb
    .word 0x20002000, reset + 1
    .rept 14
    .word fault + 1
    .endr
fault: movs r0, #0x18
    movs r1, #1
    bkpt #0xab
emit: mov r0, r8
    mov r1, r8
    adds r1, #32
    movs r2, #24
    ldr r3, =digits
1:  ldrb r4, [r0]
    lsrs r5, r4, #4
    ldrb r5, [r3, r5]
    strb r5, [r1]
    movs r5, #15
    ands r4, r5
    ldrb r4, [r3, r4]
    strb r4, [r1, #1]
    adds r0, #1
    adds r1, #2
    subs r2, #1
    bne 1b
    movs r4, #0
    strb r4, [r1]
    mov r1, r8
    adds r1, #32
    movs r0, #4
    bkpt #0xab
    bx lr
    .balign 4
digits: .ascii "0123456789abcdef"
    .ltorg
    .thumb_func
    .global reset
reset: ldr r0, =0x20000800
    mov r8, r0
    .ifdef floats
    ldr r0, =0xe000ed88
    ldr r1, =0xf00000
    str r1, [r0]
    .endif
    b 2f
    .ltorg
2:
@ instances
    adr r1, exit
    movs r0, #0x20
    bkpt #0xab
    .balign 4
exit: .word 0x20026, 0
