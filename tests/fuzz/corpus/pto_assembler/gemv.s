# one product
BSTART.TLOAD FP16; B.DATR {ND2M16, DTYPE_NONE, Null, EQ, Default, 0, 0}; B.DIM 9, ->LB0; B.DIM zero, 1, ->LB1
B.IOR a0, a1; B.IOT mask=1111, <last>, ->T<512B>; BSTOP
hl.lui 0x80, ->a0 // upper half
hl.liu 0x1000, ->x0
add a0, x0.neg<<3, ->a0
BSTART.TGEMV.ACC FP16
B.DATR BF16, RTZ, Sat
B.FPATR QF322F16_PRE, LReLU, 1, 1, 1, 0, 1
C.B.DIMI 10, ->LB1
B.IOT M#1, T#1, mask=1000
B.IOT U#16, mask=1000, last, ->N<1KB>
B.CATR {trap, atomic, aqrl}
C.BSTOP
B.IOS S3, mask=1100
B.IOS mask=1110, ->S255<12>
lui -5, ->s8; subi a7, 4095, ->ra; hl.lis -1, ->sp
.word 0x12345678
.half 0x1; .dword 0xffffffffffffffff
