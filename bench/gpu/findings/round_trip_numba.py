"""A tensor that comes down and goes up again at each step, unchanged, against one that stays."""
import torch

import pair

start = torch.rand(8_000_000, device='cuda')


def steps(down_and_up):
    x = start
    for _ in range(pair.TURNS):
        x = x * 1.5
        if down_and_up:
            x = x.cpu().to('cuda')


pair.run(lambda: steps(True), lambda: steps(False), torch.cuda.synchronize)
