"""Columns of characters as the engine counts them: who has none, who has two.

Written by scripts/width_table.py. Ranges of characters in base 36: how far from the end of the last
one, and how many.
"""

NONE = (
    "lc 34 7n 7 7b 19 1 1 1 2 1 2 1 3 1y b 1 1 1a l g 1 2t 7 2 6 2 2 1 4 z 1 u r 2j b 1m 9 9 1 "
    "o 4 1 9 1 3 1 5 17 3 1n 9 16 o 1 w 1j 1 1 1 4 8 4 1 3 7 a 2 t 1 1m 1 4 4 8 1 k 2 q 1 2 2 "
    "1l 1 4 2 4 2 2 3 3 1 u 2 3 1 b 2 1l 1 4 5 1 2 4 1 k 2 m 6 1 1 1m 1 2 1 1 4 8 1 5 4 b 2 u "
    "1 1p 1 c 1 1e 1 3 1 1j 1 1 3 5 3 1 4 7 2 b 2 t 1 1m 1 2 1 6 1 5 2 k 2 s 2 1l 2 4 4 8 1 k "
    "2 t 1 20 1 7 3 1 1 2i 1 2 7 c 8 2q 1 2 9 b 7 21 2 r 1 1 1 1 1 1j e 1 5 1 2 5 b 1 10 9 1 "
    "2u 4 1 6 1 2 2 2 p 2 4 3 g 4 d 1 2 2 6 1 f 1 5d 4h 9p 3 qa 3 t 2 u 2 u 2 1s 2 1 7 8 1 2 b "
    "9 1 19 5 39 2 y 1 3a 3 4 2 9 1 6 3 63 2 2 1 1m 1 1 7 1 1 1 1 2 8 6 a 2 1 1c 1t f 4 1c 1 1 "
    "5 1 1 5 1 14 9 c 2 w 4 2 2 1 3 1k 1 1 2 3 1 1 3 1m 8 2 2 48 3 1 d 1 7 4 1 6 1 3 2 5i 1s "
    "ej 5 o 7 1d g 2o x 2da 3 3x 1 2o w fe 4 2z 2 5l 1 n4a 4 1 a w 2 28 2 7k 1 3 1 4 1 p 2 5 1 "
    "47 2 q i d 1 12 8 p b 1a 3 1c 1 2 4 2 2 13 1 1v 6 2 2 2 2 c 1 8 1 1b 1 1f 1 1 3 2 2 5 2 1 "
    "1 16 2 8 1 6m 1 2 1 4 1 8n6 n 4 1d 6xu 1 kh g g g 5r 1 4g 1 27 9 ec 1 6a 1 45 5 1ae 3 1 2 "
    "5 4 14 3 4 1 4l 2 fx 4 1t 5 8t 2 u 5 w g 1y b 1d 4 3f 1 1i f 15 1 2 2 a 3 1d 4 2 2 7 1 1p "
    "3 10 5 1 8 1q 1 c 2 1g 9 a 4 2 1 2n 3 2 1 1 2 6 1 2 1 4d 1 3 8 l 2 1l 2 3 1 11 7 3 5 1y 6 "
    "d 1 1 1 1 1 e 2 2d 8 2 3 1 1 n 1 2c 6 1 1 4 2 1 2 6m 4 6 2 1 2 r 2 2d 8 2 1 1 2 2y 1 1 1 "
    "2 6 1 1 2t 1 1 1 2 4 1 5 77 9 1 2 74 2 1 1 4 1 40 4 2 2 4 1 w a 14 6 2 4 8 1 9 6 2 3 1a d "
    "1 2 5i 1 1 3 1 1 5l 7 1 6 1 1 2a m 2 7 1 2 1 2 3e 6 3 1 1 2 1 7 1 1 20 2 3 1 1 1 2g 1 76 "
    "2 b 2 1g 5 5 1 1 1 n 1 44l 1 6 f 8ug c 3 3 1xc 5 1n 7 fg 1 3 4 dg 1 1r 4 29 1 f5k 2 1 4 "
    "3mk 1a 2 n dc 2 1q 3 9 g 2 7 u 4 44 3 m 2 1ib 1j 4 1e 8 1 e 1 m 5 1 f 11s 7 1 h 2 7 1 2 1 "
    "5 2s 1 4g 7 af 1 1p 4 e4 4 72 2 6r 1 2 1 7 2 5 1 d6 7 31 7 gzat 35s"
)

WIDE = (
    "3cw 2n 3i3 2 d 2 5a 4 3 1 2 1 eh 2 l 2 q 8 g c 17 1 a 6 3 1 d 1 8 2 h 2 5 2 8 1 5 1 l 1 7 "
    "2 1 1 4 1 2 1 7 1 4 2 s 1 z 1 1 1 4 3 1 1 1p 3 o 1 e 1 nv 2 1f 1 4 1 kk 2 1w q 1 2h c 5y "
    "q 1m 4 h 2 2e 4 2t 5 17 1 1f 1 16 1 2e 9 1c 1 14 8 mkd 3 1j wp t hv 8mc 6l8 e8 ls a m z 1 "
    "j 1 4 45 2o 3j 7 m49 4 c 7 9 5p7 10 y 2n 37 d pe e 1f 5y5 4 1 7 1 2 1 89 9 1 t 3 2 1 e 5 "
    "7 b0 6bo 2f 9 n 5n1 1 5m 1 5a 1 2 a j 1 1j t d 18 4 9 7 2 e 6 4a x c 9 1 1y 1 m c 17 4 5 "
    "c h 3 1 3 1z 1 1 1 57 2 1r d 4 1 o i 1 q 2 d 1 2e 2d 1c 1y 6 1 3 3 2 5 2 4 b 2 7 9 65 1 5 "
    "c 4 1 7v 1b 1 a 1 55 34 d 3 1z 1 1 3 i 1 d 3 c zp 1eke 2 1eke"
)
