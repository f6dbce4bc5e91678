# D = A.B: A is 1 x 3 at 0x1000, B is 3 x 2 at 0x2000, D goes to 0x3000; all FP32, on PE0.
hl.liu 0x1000, ->a0
hl.liu 0x2000, ->a1
hl.liu 0x3000, ->a2
addi zero, 8, ->a3                               # bytes from row to row of B

BSTART.TLOAD FP32                                # A: 3 columns, 1 row, in cells of 16 rows
B.DATR {ND2M16, DTYPE_NONE, Null, 0, Default, 0, 0}
B.DIM zero, 3, ->LB0; B.DIM zero, 1, ->LB1
B.IOR a0
B.IOT mask=1000, last, ->T<256B>                 # 2 cells of 16 x 2
BSTOP

BSTART.TLOAD FP32                                # B: 2 columns, 3 rows, in cells of 4 x 8
B.DATR {ND2N8, DTYPE_NONE, Null, 0, Default, 0, 0}
B.DIM zero, 2, ->LB0; B.DIM zero, 3, ->LB1
B.IOR a1, a3
B.IOT mask=1000, last, ->U<128B>
BSTOP

BSTART.TGEMV FP32
B.FPATR None, None
B.DIM zero, 2, ->LB1; B.DIM zero, 3, ->LB2       # N, K
B.IOT T#1, U#1, mask=1000, last, ->M<128B>
BSTOP

BSTART.TSTORE FP32
B.DATR {M162ND, DTYPE_NONE, Null, 0, Default, 0, 0}
B.DIM zero, 2, ->LB0; B.DIM zero, 1, ->LB1
B.IOR a2
B.IOT M#1, mask=1000, last
BSTOP
