"""A wait after each operation, compared with one at the end."""
import torch

import pair

STEPS = 120 if pair.SMALL else 1000
x = torch.ones(4_000_000, device='cuda')


def work(waits):
    for _ in range(STEPS):
        x.mul_(1.0001)
        if waits:
            torch.cuda.synchronize()


pair.run(lambda: work(True), lambda: work(False), torch.cuda.synchronize)
