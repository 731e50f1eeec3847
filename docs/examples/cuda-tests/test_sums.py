"""The PyTest file: the same library through ctypes. SUMS names it."""

import ctypes
import os

SUMS = ctypes.CDLL(os.path.abspath(os.environ.get("SUMS", "build/libsums.so")))


def row_sums(rows):
    columns = len(rows[0])
    values = (ctypes.c_float * (len(rows) * columns))(*(v for row in rows for v in row))
    sums = (ctypes.c_float * len(rows))()
    assert SUMS.row_sums(values, sums, len(rows), columns) == 0
    return list(sums)


def test_sums_of_two_rows():
    assert row_sums([[1, 2, 3], [10, 20, 30]]) == [6, 60]


def test_more_rows_than_a_block_has_threads():
    assert row_sums([[n, 1] for n in range(200)]) == [n + 1 for n in range(200)]
