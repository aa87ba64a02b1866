#include "kernels/brgemm_spec.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <ostream>

#include "kernels/register_budget.h"
#include "kernels/row_plan.h"
#include "kernels/text.h"

namespace loopbrick {
namespace {

using Reason = std::optional<std::string>;

/// Addresses inside a kernel are a register and a 32-bit displacement in bytes.
constexpr std::int64_t kMostBytes = INT32_MAX;
constexpr int kMostAhead = 1 << 20;

std::int64_t magnitude(std::int64_t stride) {
  return stride == INT64_MIN ? INT64_MAX : std::abs(stride);
}

/// The furthest that `steps` steps lead, in elements.
std::int64_t reach(std::int64_t steps, std::int64_t stride) {
  return saturating_product(steps, magnitude(stride));
}

Reason far_off(std::string_view what, std::int64_t elements) {
  const std::int64_t bytes = saturating_product(elements, 4);
  if (bytes <= kMostBytes) return {};
  return fmt::format("{} reaches {} bytes in one call, at most {} can be addressed", what, bytes,
                     kMostBytes);
}

Reason why_no_type(const BrgemmSpec& spec) {
  if (spec.type == DType::f32) return {};
  return fmt::format("type {} has no kernel yet, only f32", to_string(spec.type));
}

Reason why_no_extents(const BrgemmSpec& spec) {
  if (spec.m < 1) return fmt::format("m is {}, at least 1 is needed", spec.m);
  if (spec.n < 1) return fmt::format("n is {}, at least 1 is needed", spec.n);
  if (spec.k < 0) return fmt::format("k is {}, at least 0 is needed", spec.k);
  if (spec.line < 0 || spec.line > spec.m || (spec.line > 0 && spec.m % spec.line != 0)) {
    return fmt::format("line {} does not divide m {}", spec.line, spec.m);
  }
  return {};
}

Reason why_no_strides(const BrgemmSpec& spec) {
  if (spec.ldb < spec.n) return fmt::format("ldb {} is less than n {}", spec.ldb, spec.n);
  if (spec.ldc < spec.n) return fmt::format("ldc {} is less than n {}", spec.ldc, spec.n);
  if (line_count(spec) > 1 && magnitude(spec.c_line_stride) < spec.n) {
    return fmt::format("c_line_stride {}: lines of C overlap, n is {}", spec.c_line_stride, spec.n);
  }
  return {};
}

Reason why_no_reach(const BrgemmSpec& spec) {
  const std::int64_t rows = line_rows(spec);
  const std::int64_t lines = line_count(spec);
  const std::int64_t a_rows = saturating_sum(reach(rows, spec.a_row_stride),
                                             lines > 1 ? reach(lines, spec.a_line_stride) : 0);
  if (auto reason = far_off("A", saturating_sum(a_rows, reach(spec.k, spec.a_k_stride)))) {
    return reason;
  }
  if (auto reason = far_off("B", saturating_sum(reach(spec.k, spec.ldb), spec.n))) return reason;
  const std::int64_t c_rows =
      saturating_sum(reach(rows, spec.ldc), lines > 1 ? reach(lines, spec.c_line_stride) : 0);
  return far_off("C", saturating_sum(c_rows, spec.n));
}

Reason why_no_windows(const BrgemmSpec& spec) {
  for (const RowWindow& window : spec.windows) {
    if (window.first < 0 || window.last < window.first || window.last > line_rows(spec)) {
      return fmt::format("window {}:{} is not within a line of {} rows", window.first, window.last,
                         line_rows(spec));
    }
  }
  return {};
}

Reason why_no_stream(const BrgemmSpec& spec) {
  if (!spec.stream) return {};
  const int vector = lanes(spec.isa);
  if (spec.ldc % vector != 0 || (line_count(spec) > 1 && spec.c_line_stride % vector != 0)) {
    return fmt::format("streamed rows of C must start at multiples of {} elements, ldc is {}",
                       vector, spec.ldc);
  }
  return {};
}

Reason why_no_tile(const BrgemmSpec& spec) {
  if (spec.tile_rows < 0) return fmt::format("tile of {} rows", spec.tile_rows);
  const int vector = lanes(spec.isa);
  if (spec.tile_cols < 0 || (spec.tile_cols % vector != 0 && spec.tile_cols != spec.n)) {
    return fmt::format("tile of {} columns, not a multiple of {}", spec.tile_cols, vector);
  }
  if (spec.isa == Isa::ref) return {};
  const RegisterTile tile = register_tile(spec);
  const std::int64_t vectors = vector_count(spec.isa, tile.cols);
  const std::int64_t needed = (tile.rows + std::int64_t{1}) * vectors + 1;  // C, B, broadcast of A
  if (needed <= vector_registers(spec.isa)) return {};
  return fmt::format("tile {}x{} needs {} vector registers, {} has {}", tile.rows, tile.cols,
                     needed, to_string(spec.isa), vector_registers(spec.isa));
}

Reason why_no_ahead(const BrgemmSpec& spec) {
  if (spec.ahead >= 0 && spec.ahead <= kMostAhead) return {};
  return fmt::format("ahead {} is not from 0 to {}", spec.ahead, kMostAhead);
}

/// Appends " name value" for what differs from the default.
template <typename T>
void add(std::string& text, std::string_view name, const T& value, const T& usual) {
  if (!(value == usual)) text += fmt::format(" {}{}", name, value);
}

void add_flag(std::string& text, std::string_view name, bool value) {
  if (value) text += fmt::format(" {}", name);
}

void add_windows(std::string& text, const BrgemmSpec& spec) {
  for (const RowWindow& window : spec.windows) {
    text += fmt::format(" window{}:{}", window.first, window.last);
  }
}

}  // namespace

std::string_view to_string(BatchForm form) {
  constexpr std::array<std::string_view, 3> kTexts{"address", "offset", "stride"};
  return kTexts[static_cast<std::size_t>(form)];
}

std::string to_string(const BrgemmSpec& spec) {
  const BrgemmSpec usual;
  std::string text = fmt::format("{} {} m{} n{} k{}", to_string(spec.isa), to_string(spec.type),
                                 spec.m, spec.n, spec.k);
  add(text, "line", spec.line, usual.line);
  add(text, "a_row", spec.a_row_stride, usual.a_row_stride);
  add(text, "a_line", spec.a_line_stride, usual.a_line_stride);
  add(text, "a_k", spec.a_k_stride, usual.a_k_stride);
  add(text, "ldb", spec.ldb, usual.ldb);
  add(text, "ldc", spec.ldc, usual.ldc);
  add(text, "c_line", spec.c_line_stride, usual.c_line_stride);
  add_flag(text, "accumulate", spec.accumulate);
  add(text, "", to_string(spec.form), to_string(usual.form));
  add(text, "a_batch", spec.a_batch_stride, usual.a_batch_stride);
  add(text, "b_batch", spec.b_batch_stride, usual.b_batch_stride);
  add(text, "tile_rows", spec.tile_rows, usual.tile_rows);
  add(text, "tile_cols", spec.tile_cols, usual.tile_cols);
  add_windows(text, spec);
  add_flag(text, "bias", spec.bias);
  add(text, "", to_string(spec.activation), to_string(usual.activation));
  add_flag(text, "stream", spec.stream);
  add(text, "ahead", spec.ahead, usual.ahead);
  add(text, "fetch_a", spec.fetch_a, usual.fetch_a);
  return text;
}

std::ostream& operator<<(std::ostream& out, const BrgemmSpec& spec) {
  return out << to_string(spec);
}

std::optional<std::string> why_not(const BrgemmSpec& spec) {
  for (const auto why_no : {why_no_type, why_no_extents, why_no_strides, why_no_reach,
                            why_no_windows, why_no_stream, why_no_tile, why_no_ahead}) {
    if (auto reason = why_no(spec)) return reason;
  }
  return {};
}

RegisterTile register_tile(const BrgemmSpec& spec) {
  if (spec.isa == Isa::ref) return {.rows = 1, .cols = 1};
  const int cols = spec.tile_cols > 0 ? spec.tile_cols : usual_vectors(spec.isa) * lanes(spec.isa);
  RegisterTile tile{.rows = spec.tile_rows, .cols = std::min(cols, spec.n)};
  if (tile.rows == 0) {
    tile.rows = std::min(spec.m, usual_tile_rows(spec.isa, vector_count(spec.isa, tile.cols)));
  }
  return tile;
}

std::int64_t multiply_adds(const BrgemmSpec& spec, int window, std::int64_t entries) {
  std::int64_t rows = spec.m;
  if (!spec.windows.empty()) {
    const RowWindow& touched = spec.windows[window];
    rows = static_cast<std::int64_t>(line_count(spec)) * (touched.last - touched.first);
  }
  const std::int64_t one_entry = saturating_product(saturating_product(rows, spec.n), spec.k);
  return saturating_product(one_entry, entries);
}

}  // namespace loopbrick
