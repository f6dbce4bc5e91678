# result[2 x 3] = weights[2 x 2] transposed times image[2 x 3], all fp32:
# DMA engine 0 loads both, the PE array multiplies, the vector engine copies the result out of PSUM, DMA stores it.
.equ weights = hbm + 0x1000
.equ image   = weights + 0x100
.equ result  = weights + 0x200
.data weights fp32: 1, 2,  3, 4
.data image   fp32: 1, 0, 2,  0, 1, 3

# Where they lie in a partition of SBUF.
.equ w_at = 0
.equ x_at = 64
.equ y_at = 128

# Descriptors that `dma_trigger queue Q` releases. Loops are COUNT by BYTES, outermost first.
.equ partition = 0x40000
.ring queue 0
  copy sbuf(0, w_at) [2 by partition, 2 by 4] fp32 = weights [4 by 4] fp32
  copy sbuf(0, x_at) [2 by partition, 3 by 4] fp32 = image [6 by 4] fp32, sem 0 += 1
.ring queue 1
  copy result [6 by 4] fp32 = sbuf(0, y_at) [2 by partition, 3 by 4] fp32, sem 3 += 1

.engine sync
  dma_trigger queue 0 += 2
  dma_trigger queue 1 += 1 wait sem 2 >= 1
  semaphore wait sem 3 >= 1
  halt

# Tiles are PARTITIONS, BYTE, then COUNT:STEP in elements. The stationary operand comes first, as in `a x b`.
.engine pe
  semaphore wait sem 0 >= 1
product:
  matmul psum[0..1, bank 0, 3:1] fp32 = sbuf[0..1, w_at, 2:1] fp32 x sbuf[0..1, x_at, 3:1] fp32 START STOP, sem 1 += 1
  halt

.engine vector
  semaphore wait sem 1 >= 1
  tensor_copy sbuf[0..1, y_at, 3:1] fp32 = psum[0..1, bank 0, 3:1] fp32, sem 2 += 1
  halt
