"""A sample of random_calls.py."""

import random_calls


def test_sample(device):
    count = 800 if device == "cpu" else 300
    assert random_calls.run(count, seed=7) >= count
