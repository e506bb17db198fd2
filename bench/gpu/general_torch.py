"""PyTorch's part of the general GPU benchmark: eager, and with torch.compile. f32 products and convolutions are computed in f32. cuDNN
measures its deterministic algorithms and takes the fastest. PyTorch has no switch that excludes Winograd, so a convolution whose kernels
are named so is listed and does not count; channels_last and a product over unfolded patches are other ways. On a machine without a GPU
the tensors are the CPU's, for checks of values."""
import time

import numpy as np
import torch

import program_torch


class Peer:
    is_leat = False

    def __init__(self, o):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        torch.backends.cudnn.benchmark = torch.backends.cudnn.deterministic = True
        self.on_gpu = torch.cuda.is_available()
        self.device = torch.device('cuda' if self.on_gpu else 'cpu')
        self.version = 'torch %s, cuDNN %s' % (torch.__version__, torch.backends.cudnn.version())
        self.compiles = not o.quick and not o.dry
        self.compile_until, self.left_out = time.perf_counter() + 0.75 * o.seconds, []  # compiling takes seconds each time
        self.buffer = [torch.zeros(1 << 26 if self.on_gpu else 1, dtype=torch.uint8, device=self.device) for _ in range(2)]

    def prepare(self, work, arrays):
        made = {}
        for i in work.inputs:
            a = arrays[i.name]
            t = torch.from_numpy(np.array(a.view(np.int16) if i.dtype == 'bf16' else a)).to(self.device)
            made[i.name] = t.view(torch.bfloat16) if i.dtype == 'bf16' else t
        return made

    def fetch(self, made):
        plain = lambda t: (t.float() if t.dtype in (torch.bfloat16, torch.float16) else t.resolve_conj()).cpu().numpy()
        return [plain(t) for t in (made if isinstance(made, (tuple, list)) else (made,))]

    def ways(self, work, v):
        """(label, function, whether it counts)."""
        names, arrays = list(v), list(v.values())
        for label, f in work.torch.items():
            whole = lambda *a, f=f: f(torch, {**dict(zip(names, a)), **work.numbers})
            eager = lambda whole=whole: whole(*arrays)
            is_winograd = work.winograd and self.on_gpu and self.uses_winograd(eager)
            yield label + (', Winograd' if is_winograd else ''), eager, not is_winograd
            if is_winograd:
                first = lambda eager=eager: self.without_measuring(eager)
                yield label + ", cuDNN's first choice", first, not self.uses_winograd(first)
            if label in work.compiled and self.compiles:
                if time.perf_counter() > self.compile_until:
                    self.left_out.append(label)
                    continue
                compiled = torch.compile(whole, dynamic=False)
                yield label + ', compiled', (lambda compiled=compiled: compiled(*arrays)), True

    def without_measuring(self, f):
        torch.backends.cudnn.benchmark = False
        made = f()
        torch.backends.cudnn.benchmark = True
        return made

    def uses_winograd(self, f):
        """Whether a kernel that it launches is named so; unknown counts as no."""
        try:
            f()
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as made:
                f()
                self.wait()
            return any('winograd' in e.key.lower() for e in made.key_averages())
        except Exception:
            return False

    def done(self):
        self.left_out = []
        torch._dynamo.reset()  # its limit of recompilations counts those of the wrapper in ways()
        if self.on_gpu:
            torch.cuda.empty_cache()

    def wait(self):
        if self.on_gpu:
            torch.cuda.synchronize()


class OnGpu(Peer, program_torch.Events):
    def captured(self, f, count):
        """(a function that launches a graph of `count` runs of f, what the last of them makes)"""
        side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):  # libraries allocate and measure now
            f()
        torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.graph(graph):
            for _ in range(count):
                made = f()
        return graph.replay, made


def open_peer(o): return OnGpu(o) if torch.cuda.is_available() else Peer(o)
