"""A sample of random_calls.py."""

import random_calls


def test_sample(device):
    random_calls.run(2000 if device == "cpu" else 300, seed=7)
