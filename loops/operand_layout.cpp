#include "loops/operand_layout.h"

#include "problems/operands.h"

namespace loopbrick {

namespace {

AxisAccess along(const Access& access, Axis axis) { return access[place(axis)]; }

/// A dense row-major array, the last axis at stride 1 and rows `pitch` elements apart.
StridedArray matrices(const std::vector<std::int64_t>& extents, std::int64_t pitch) {
  StridedArray array;
  std::int64_t stride = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    array.insert(array.begin(), {extents[i], {.inner = stride}});
    stride = i + 1 == extents.size() ? pitch : stride * extents[i];
  }
  return array;
}

StridedArray image_array(Layout layout, const std::vector<std::int64_t>& nchw) {
  const ImageAccess access = image_access(layout, nchw[1], nchw[2], nchw[3]);
  return {{nchw[0], access.image},
          {nchw[1], access.channel},
          {nchw[2], access.row},
          {nchw[3], access.column}};
}

StridedArray entry_array(Layout layout, const std::vector<std::int64_t>& nc) {
  const EntryAccess access = entry_access(layout, nc[0], nc[1]);
  return {{nc[0], access.entry}, {nc[1], access.channel}};
}

/// Weights k c of a fully connected layer, k c r s of a convolution.
StridedArray weight_array(const Problem& problem, const std::vector<std::int64_t>& extents) {
  const Access access = forward_weights(problem).access();
  StridedArray array{{extents[0], along(access, Axis::k)}, {extents[1], along(access, Axis::c)}};
  if (extents.size() == 4) {
    array.push_back({extents[2], along(access, Axis::r)});
    array.push_back({extents[3], along(access, Axis::s)});
  }
  return array;
}

}  // namespace

ImageAccess image_access(Layout layout, std::int64_t channels, std::int64_t rows,
                         std::int64_t columns) {
  const std::int64_t block = channel_block(layout, channels);
  ImageAccess access{.image = {.inner = channels * rows * columns},
                     .channel = {.inner = 1},
                     .row = {.inner = columns * block},
                     .column = {.inner = block}};
  if (block < channels) access.channel = {1, block, rows * columns * block};
  return access;
}

EntryAccess entry_access(Layout layout, std::int64_t entries, std::int64_t channels) {
  const std::int64_t block = channel_block(layout, channels);
  EntryAccess access{.entry = {.inner = block}, .channel = {.inner = 1}};
  if (block < channels) access.channel = {1, block, entries * block};
  return access;
}

WeightLayout forward_weights(const Problem& problem) {
  if (const auto* conv = std::get_if<Conv>(&problem.shape)) {
    return {.k = conv->k,
            .c = conv->c,
            .r = conv->r,
            .s = conv->s,
            .tile = channel_block(problem.layout, conv->k),
            .depth = channel_block(problem.layout, conv->c)};
  }
  const auto& fc = std::get<Fc>(problem.shape);
  return {.k = fc.k, .c = fc.c, .tile = channel_block(problem.layout, fc.k), .depth = fc.c};
}

StridedArray operand_array(const Problem& problem, int operand) {
  const Operand plain = operands(problem)[static_cast<std::size_t>(operand)];
  if (plain.extents.size() == 1) return {{plain.extents[0], {.inner = 1}}};  // a bias
  if (const auto* gemm = std::get_if<Gemm>(&problem.shape)) {
    return matrices(plain.extents, plain.output ? gemm->ldc : operand == 0 ? gemm->lda : gemm->ldb);
  }
  if (plain.name == "w" || plain.name == "dw") return weight_array(problem, plain.extents);
  return std::holds_alternative<Fc>(problem.shape) ? entry_array(problem.layout, plain.extents)
                                                   : image_array(problem.layout, plain.extents);
}

}  // namespace loopbrick
