"""Uploads the next batch while the host prepares: from pageable memory, which blocks the host, compared with pinned memory."""
import hashlib

import torch

import pair

N = 8_000_000
pageable, pinned = torch.ones(N), torch.ones(N).pin_memory()
device = torch.empty(N, device='cuda')
work = bytes(12_000_000)


def steps(batch):
    for _ in range(pair.TURNS):
        device.copy_(batch, non_blocking=True)
        hashlib.sha256(work).digest()  # what the host has to do meanwhile
        torch.cuda.synchronize()


pair.run(lambda: steps(pageable), lambda: steps(pinned), torch.cuda.synchronize)
