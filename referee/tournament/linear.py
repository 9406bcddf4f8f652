"""The little linear algebra that a fit of some dozen bots needs, in plain lists."""

from collections.abc import Sequence
from typing import TypeAlias

Matrix: TypeAlias = list[list[float]]


def zeros(rows: int, columns: int | None = None) -> Matrix:
    """A matrix of zeros, by default a square."""
    return [[0.0] * (rows if columns is None else columns) for _ in range(rows)]


def inverse(matrix: Sequence[Sequence[float]]) -> Matrix:
    """The inverse of a positive definite matrix, by Gauss and Jordan; such a matrix needs no pivoting."""
    size = len(matrix)
    rows = [[*row, *(float(at == number) for at in range(size))] for number, row in enumerate(matrix)]
    for number, pivot_row in enumerate(rows):
        pivot = pivot_row[number]
        if pivot <= 0:
            raise ValueError("the matrix is not positive definite")
        pivot_row[:] = [value / pivot for value in pivot_row]
        for row in rows:
            factor = row[number]
            if row is not pivot_row and factor:
                row[:] = [value - factor * other for value, other in zip(row, pivot_row, strict=True)]
    return [row[size:] for row in rows]


def times(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    """A matrix times a vector."""
    return [sum(map(float.__mul__, row, vector)) for row in matrix]
