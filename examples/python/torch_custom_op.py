"""A PyTorch model whose normalization and activation are Leat programs, each with a second program for its gradient.

Leat works on the tensors' device in PyTorch's current stream, and returns tensors. The normalization is a
torch.autograd.Function. The activation is an operator of torch.library, which torch.compile knows.
"""

import torch
from torch.library import custom_op

import leat

norm = leat.program("in x; y[...,j] = x[...,j] / sqrt(mean(k: x[...,k]**2) + 1e-5)")
norm_gradient = leat.program("""in g, x
r[...] = 1 / sqrt(mean(k: x[...,k]**2) + 1e-5)
dx[...,j] = r[...] * (g[...,j] - x[...,j] * r[...]**2 * mean(k: g[...,k] * x[...,k]))""")
swish = leat.program("in x; y[...] = x[...] / (1 + exp(-x[...]))")
swish_gradient = leat.program("""in g, x
s[...] = 1 / (1 + exp(-x[...]))
dx[...] = g[...] * s[...] * (1 + x[...] * (1 - s[...]))""")


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return norm(x.detach())

    @staticmethod
    def backward(ctx, g):
        return norm_gradient(g, ctx.saved_tensors[0].detach())


swish_op = custom_op("leat::swish", lambda x: swish(x.detach()), mutates_args=(), schema="(Tensor x) -> Tensor")
swish_back = custom_op("leat::swish_back", swish_gradient, mutates_args=(), schema="(Tensor g, Tensor x) -> Tensor")
swish_op.register_fake(lambda x: torch.empty_like(x, memory_format=torch.contiguous_format))
swish_back.register_fake(lambda g, x: torch.empty_like(x, memory_format=torch.contiguous_format))
swish_op.register_autograd(lambda ctx, g: swish_back(g, ctx.saved_tensors[0].detach()),
                           setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))  # fmt: skip

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    x = torch.randn(5, 7, dtype=torch.float64, device=device, requires_grad=True)
    assert torch.autograd.gradcheck(Norm.apply, (x,)) and torch.autograd.gradcheck(swish_op, (x,))
    torch.library.opcheck(swish_op, (x,))
    first, last = torch.nn.Linear(2, 64, device=device), torch.nn.Linear(64, 1, device=device)
    model = torch.compile(swish_op, backend="eager", fullgraph=True)  # a part of a compiled graph, like any operator
    points = torch.rand(2000, 2, device=device) * 2 - 1
    inside = (points.square().sum(1) < 0.5).float()  # to learn: a disk
    optimizer = torch.optim.Adam([*first.parameters(), *last.parameters()], lr=0.01)
    for step in range(101):
        guess = last(model(Norm.apply(first(points))))[:, 0]
        loss = torch.nn.functional.binary_cross_entropy_with_logits(guess, inside)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.2
    print(f"the gradients are right on {device}, and {step} steps of training bring the loss to {loss.item():.3f}")
