#!/usr/bin/env python3
"""Writes promotion.txt: the result types of NumPy 2 for every operator and pair of element types. Run it with NumPy 2; its output is
kept, so that tests need no NumPy. "wi" and "wf" are a plain Python int and float beside an array. A cell is the result's type, or
"error". Where Leat has a rule of its own (docs: bools in arithmetic are taken as i64; float functions of integers give f64), the cell
is the rule's, with NumPy's in brackets."""
import operator
import pathlib
import warnings

import numpy as np

TYPES = {"bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
         "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64"}
NAMES = {np.dtype(numpy_name): name for name, numpy_name in TYPES.items()}
WEAK = {"wi": 1, "wf": 1.0}
BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
          "%": operator.mod, "**": operator.pow, "&": operator.and_, "|": operator.or_, "^": operator.xor,
          "<<": operator.lshift, ">>": operator.rshift, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
          "<=": operator.le, ">": operator.gt, ">=": operator.ge, "min": np.minimum, "max": np.maximum, "atan2": np.arctan2}
UNARY = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "sqrt": np.sqrt, "abs": np.abs, "sign": np.sign, "floor": np.floor,
         "isnan": np.isnan}
INTEGERS = [name for name in TYPES if name[0] in "iu"]
# Leat's own rules, where they differ from NumPy's.
RULES = {(op, "bool", "bool"): "i64" for op in ("-", "//", "%", "**", "<<", ">>")}
RULES.update({("atan2", left, right): "f64" for left in ("bool", *INTEGERS) for right in ("bool", *INTEGERS, "wi")})
RULES.update({("atan2", "wi", right): "f64" for right in ("bool", *INTEGERS)})
RULES.update({("sqrt", name): "f64" for name in ("bool", *INTEGERS)})
RULES.update({(op, "bool"): "i64" for op in ("abs", "sign", "floor")})


def value(name):
    return WEAK[name] if name in WEAK else np.ones(2, TYPES[name])


def result_type(function, *names):
    try:
        return NAMES[np.asarray(function(*map(value, names))).dtype]
    except TypeError:
        return "error"


def cell(op, function, *names):
    numpy_type = result_type(function, *names)
    rule = RULES.get((op, *names), numpy_type)
    return rule if rule == numpy_type else f"{rule}({numpy_type})"


def binary_tables():
    for op, function in BINARY.items():
        columns = [*TYPES, *WEAK]
        yield " ".join(["binary", op, *columns])
        for left in columns:
            rights = columns if left in TYPES else list(TYPES)
            yield " ".join([left, *(cell(op, function, left, right) for right in rights)])


def unary_tables():
    for op, function in UNARY.items():
        yield " ".join(["unary", op, *TYPES])
        yield " ".join(["result", *(cell(op, function, name) for name in TYPES)])


def main():
    assert np.__version__.startswith("2."), "NumPy 2 is needed"
    warnings.simplefilter("ignore")
    lines = ["# Written by promotion.py, which says what this is.", *binary_tables(), *unary_tables()]
    pathlib.Path(__file__).with_name("promotion.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
