.equ n = 2 * (3 + 1)
.engine scalar
activation sbuf[0..15, 64, 2:8 n:1] bf16 = relu(psum[0..15, bank 1 + 4, 2:8 n:1] fp32 x sbuf@128 + -1.5), sem 1 -= 2
transpose psum[0..3, bank 1] fp32 = sbuf[0..7, 0, 4:1] fp32
tensor_reduce sbuf[0, 0] fp32 = max sbuf[0, 4, 3:2 5:1] bf16 over 2
tensor_scalar sbuf[0, 0] fp32 = (sbuf[0, 4] fp32 add nan(0x7fc00001)) max inf
memset sbuf[0..31, 0, 4:1] int8 = 0x10
semaphore wait none wait sem 7 == -3, sem 9 = 4
drain
.ring queue 15 engine 3
empty, sem 3 += 1, interrupt
copy sbuf(0, 0) [8 by 2, 4 by 262144] bf16 = hbm [32 by 2] bf16, sem 3 += 1, transpose
copy psum(1, 2, 3) [] element 4 = hbm [2 by 8, 3 by -4] uint8
.data sbuf(2, 8) int16: 4 x 7, -1
.engine gpsimd
loop: nop unused(partitions 3, update 4 5)
halt
