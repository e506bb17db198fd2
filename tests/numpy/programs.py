#!/usr/bin/env python3
"""Writes tests/programs/*.txt: programs, inputs and expected results. NumPy 2 is the oracle. Where the language differs from NumPy
(docs/LANGUAGE.md), the case files apply the language's rule and say so. The files are committed, so that tests need no Python. Run this
script after changing a case.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install 'numpy>=2' ml_dtypes scipy && /tmp/venv/bin/python tests/numpy/programs.py

The format: `== program`, text, then any of `== in NAME DTYPE EXTENTS`, `== out NAME DTYPE EXTENTS [rtol R]` (values follow, in
row-major order), `== scalar NAME VALUE`, `== results NAMES`, `== error CODE WORDS`, and `== end`. Floats are written so that reading
them back as f64 and rounding to the type gives the same bits. Without rtol, values are compared exactly (NaN equals NaN)."""
import operator_cases, function_cases, reduction_cases, chain_cases, reuse_cases, distance_cases, tile_cases, body_cases, row_cases, column_chain_cases, norm_cases, narrow_cases, range_cases, window_cases, assign_cases, text_cases, block_cases, scan_cases, control_cases, complex_cases, nested_sum_cases, contraction_cases, example_cases, subscript_cases, ragged_cases, join_cases, gather_cases, rare_cases
import caselib

if __name__ == '__main__':
    for module in (operator_cases, function_cases, reduction_cases, chain_cases, reuse_cases, distance_cases, tile_cases, body_cases, row_cases, column_chain_cases, norm_cases, narrow_cases, range_cases, window_cases, assign_cases, text_cases, block_cases, scan_cases, control_cases, complex_cases, nested_sum_cases, contraction_cases, example_cases, subscript_cases, ragged_cases, join_cases, gather_cases, rare_cases):
        module.cases()
    caselib.write_all()
