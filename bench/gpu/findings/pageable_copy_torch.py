"""Batches uploaded from pageable memory, compared with memory that was pinned once."""
import torch

import pair

pageable = torch.ones(16_000_000)
pinned = pageable.pin_memory()
weights = torch.ones(16_000_000, device='cuda')


def upload(batch):
    for _ in range(pair.TURNS):
        (batch.to('cuda', non_blocking=True) * weights).sum()


pair.run(lambda: upload(pageable), lambda: upload(pinned), torch.cuda.synchronize)
