"""A program as PyTorch's users write them: a small convolutional net trained from a loader with worker processes and pinned memory,
checked without gradients, then replayed as a CUDA graph. Its output is the same in each run."""
import os

os.environ.setdefault('CUBLAS_WORKSPACE_CONFIG', ':4096:8')  # without it, products may differ from run to run
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

device = torch.device('cuda')


class Shapes(Dataset):
    """Pictures of 16 x 16: a horizontal bar, a vertical bar, or a square, with noise."""

    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(3, (count,), generator=generator)
        self.places = torch.randint(2, 11, (count, 2), generator=generator)
        self.noise = torch.randn(count, 1, 16, 16, generator=generator) * 0.4

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, k):
        picture, (row, column) = self.noise[k].clone(), self.places[k].tolist()
        height, width = [(1, 5), (5, 1), (3, 3)][self.labels[k].item()]
        picture[0, row:row + height, column:column + width] += 1.5
        return picture, self.labels[k]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.convolutions = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
                                          nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU())
        self.last = nn.Sequential(nn.Flatten(), nn.Linear(256, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))

    def forward(self, x):
        return self.last(self.convolutions(x))


def train(net, loader, epochs):
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs * len(loader))
    wrong = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        total = torch.zeros((), device=device)
        for pictures, labels in loader:
            pictures, labels = pictures.to(device, non_blocking=True), labels.to(device, non_blocking=True)
            optimizer.zero_grad(set_to_none=True)
            loss = wrong(net(pictures), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.detach()
        print('epoch %d: loss %.3f' % (epoch, total.item() / len(loader)))


@torch.no_grad()
def right(net, loader):
    net.eval()
    return sum((net(pictures.to(device)).argmax(1) == labels.to(device)).sum() for pictures, labels in loader).item()


@torch.no_grad()
def replay(net, count):
    """The same batch shape repeatedly: captured once, then replayed."""
    still = torch.zeros(64, 1, 16, 16, device=device)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            net(still)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = net(still).softmax(1)
    sums = []
    for k in range(count):
        still.copy_(torch.full_like(still, 0.1 * k))
        graph.replay()
        sums.append(made.max(1).values.mean())
    return torch.stack(sums).cpu()


def main():
    torch.manual_seed(11)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    generator = torch.Generator().manual_seed(12)
    loader = DataLoader(Shapes(2048, 1), 128, shuffle=True, num_workers=2, pin_memory=True, generator=generator)
    check = DataLoader(Shapes(512, 2), 256)
    net = Net().to(device)
    print('%d parameters' % sum(p.numel() for p in net.parameters()))
    train(net, loader, 3)
    print('%d of 512 right' % right(net, check))
    print('replayed:', ' '.join('%.3f' % value for value in replay(net, 6)))
    spread = torch.linalg.svdvals(net.last[1].weight.detach())
    print('singular values from %.2f to %.2f' % (spread[0].item(), spread[-1].item()))


if __name__ == '__main__':
    main()
