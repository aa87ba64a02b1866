// Two layers of a network, one after the other: weights are laid out once, activations stay in the
// layout that both layers share.
//
//     ./network [WISDOM]      WISDOM is a file of `loopbrick export wisdom`
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <loopbrick/primitive.h>
#include <memory>
#include <vector>

using loopbrick::Primitive;

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<float[], Free>;

Buffer buffer(const loopbrick::PrimitiveOperand& operand) {
  return Buffer(
      static_cast<float*>(std::aligned_alloc(64, static_cast<std::size_t>(operand.bytes))));
}

/// An input whose plain elements all have this value, as the layer wants it.
Buffer filled(const Primitive& layer, std::size_t input, float value) {
  const std::vector<float> plain(static_cast<std::size_t>(layer.inputs()[input].elements), value);
  Buffer own = buffer(layer.inputs()[input]);
  layer.lay_out(input, plain.data(), own.get());
  return own;
}

void describe(const Primitive& layer) {
  std::cout << layer.problem() << "\n  " << layer.schedule() << "  (" << layer.origin() << ")\n";
}

int main(int argc, char** argv) try {
  loopbrick::PrimitiveOptions options;
  if (argc > 1) options.wisdom = argv[1];
  Primitive reduce("mb1ic256ih28oc64oh28kh1ph0+bias+relu", options);
  Primitive widen("mb1ic64ih28oc64oh28kh3ph1+relu", options);
  describe(reduce);
  describe(widen);

  const Buffer x = filled(reduce, 0, 0.5F);
  const Buffer w1 = filled(reduce, 1, 1.0F / 256), bias = filled(reduce, 2, 0.5F);
  const Buffer w2 = filled(widen, 1, 1.0F / 64);
  const Buffer between = buffer(reduce.outputs()[0]);
  const Buffer y = buffer(widen.outputs()[0]);

  double best = 1e300;
  for (int i = 0; i < 50; ++i) {
    const auto start = std::chrono::steady_clock::now();
    reduce.run({x.get(), w1.get(), bias.get()}, {between.get()});
    widen.run({between.get(), w2.get()}, {y.get()});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  std::vector<float> plain(static_cast<std::size_t>(widen.outputs()[0].elements));
  widen.take_back(0, y.get(), plain.data());
  const double gflops = (reduce.flops() + widen.flops()) / best * 1e-9;
  std::cout << "both: " << best * 1e6 << " us, " << gflops << " GFLOP/s\n";
  std::cout << "y[0][0][0][0] = " << plain[0] << ", y[0][0][14][14] = " << plain[14 * 28 + 14]
            << "\n";
  return plain[0] == 4.0F && plain[14 * 28 + 14] == 9.0F
             ? 0
             : 1;  // a corner has 4 taps on the image, the middle 9
} catch (const std::exception& error) {
  std::cerr << "network: " << error.what() << '\n';
  return 1;
}
