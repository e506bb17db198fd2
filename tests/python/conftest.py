"""What all tests of the Python package share. They test the installed package, in any environment:

    LEAT_TEST_DEVICE=sim python -m pytest tests/python
"""

import os

import pytest


@pytest.fixture
def device():
    """The device that tests run on: cpu unless LEAT_TEST_DEVICE names another."""
    return os.environ.get("LEAT_TEST_DEVICE", "cpu")
