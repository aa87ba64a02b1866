#!/usr/bin/python3
"""A convolution on NumPy arrays.

    PYTHONPATH=<prefix>/lib/python3/dist-packages ./layer.py [WISDOM]

WISDOM is a file of `loopbrick export wisdom`.
"""
import sys
import time

import numpy

import loopbrick


def main(wisdom=None):
    conv = loopbrick.Primitive("mb1ic64ih28oc64oh28kh1ph0", wisdom=wisdom)
    print(f"{conv.problem}\n  {conv.schedule}  ({conv.origin})")
    x, w = (numpy.random.default_rng(1).random(operand.shape, numpy.float32) for operand in conv.inputs)

    inputs, outputs = [conv.laid_out(0, x), conv.laid_out(1, w)], conv.empty_outputs()
    seconds = []
    for _ in range(50):
        start = time.perf_counter()
        conv.run(inputs, outputs)
        seconds.append(time.perf_counter() - start)
    print(f"{min(seconds) * 1e6:.1f} us, {conv.flops / min(seconds) * 1e-9:.1f} GFLOP/s")

    y = conv.plain(0, outputs[0])
    assert numpy.array_equal(y, conv(x, w))
    return numpy.allclose(y, numpy.einsum("nchw,kc->nkhw", x, w[:, :, 0, 0]), rtol=1e-4)


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
