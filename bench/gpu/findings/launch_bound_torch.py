"""Small operations one by one, compared with a graph of all."""
import torch

import pair

STEPS = 100 if pair.SMALL else 1000
x = torch.ones(1000, device='cuda')


def one_by_one():
    y = x
    for _ in range(STEPS):
        y = torch.sin(y) * 1.5


one_by_one()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    one_by_one()
pair.run(one_by_one, graph.replay, torch.cuda.synchronize)
