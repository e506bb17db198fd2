"""Runs the examples of Numba's documentation, which are among its tests. Prints the outcome of each, which is the same in each run."""
import importlib
import importlib.util
import sys
import types
import unittest

import numpy as np

for name, value in {'row_stack': 'vstack', 'in1d': 'isin', 'trapz': 'trapezoid'}.items():  # removed in new versions of NumPy
    if not hasattr(np, name):
        setattr(np, name, getattr(np, value))
if importlib.util.find_spec('filecheck') is None:  # checks compilers' output; none of the examples uses it
    for name in ('filecheck', 'filecheck.matcher', 'filecheck.options', 'filecheck.parser', 'filecheck.finput'):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__getattr__ = lambda wanted: object

NAMES = ('cg', 'cpointer', 'globals', 'laplace', 'matmul', 'montecarlo', 'random', 'reduction', 'sessionize', 'ufunc', 'vecadd')


class Told(unittest.TestResult):
    def stopTest(self, test):
        super().stopTest(test)
        bad = any(one is test for one, _ in self.errors + self.failures)
        skipped = any(one is test for one, _ in self.skipped)
        print('%s.%s: %s' % (type(test).__name__, test._testMethodName, 'failed' if bad else 'skipped' if skipped else 'ok'), flush=True)


def main():
    result = Told()
    for name in NAMES:
        try:
            module = importlib.import_module('numba.cuda.tests.doc_examples.test_' + name)
        except ImportError:
            print(name + ': not here')
            continue
        unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    for _, text in result.errors + result.failures:
        print(text.strip().splitlines()[-1])


main()
