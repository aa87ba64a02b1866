#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "kernels/text.h"
#include "problems/shape_text.h"

namespace loopbrick {
namespace {

/// Cuts `token` off the front of `rest`, if it stands there.
bool take(std::string_view& rest, std::string_view token) {
  if (!rest.starts_with(token)) return false;
  rest.remove_prefix(token.size());
  return true;
}

std::int64_t take_count(std::string_view& rest, std::string_view what, std::int64_t least) {
  const std::size_t length = std::min(rest.find_first_not_of("0123456789"), rest.size());
  const std::int64_t value = parse_count(rest.substr(0, length), what, least);
  rest.remove_prefix(length);
  return value;
}

void expect(std::string_view& rest, std::string_view token, std::string_view text) {
  if (take(rest, token)) return;
  throw ParseError(
      fmt::format("'{}' is not a gemm like 64x33:33x64bs16ld40:80:64: '{}' missing{}", text, token,
                  rest.empty() ? std::string(" at the end") : fmt::format(" before '{}'", rest)));
}

void check_leading(std::string_view name, std::int64_t given, std::int64_t least) {
  if (given >= least) return;
  throw ParseError(
      fmt::format("{} {} is shorter than the rows of {} elements", name, given, least));
}

Gemm dense(std::int64_t m, std::int64_t k, std::int64_t n) {
  return {.m = m, .n = n, .k = k, .lda = std::max<std::int64_t>(k, 1), .ldb = n, .ldc = n};
}

void take_leading(std::string_view& rest, Gemm& gemm, std::string_view text) {
  const Gemm least = dense(gemm.m, gemm.k, gemm.n);
  gemm.lda = take_count(rest, "lda", 1);
  expect(rest, ":", text);
  gemm.ldb = take_count(rest, "ldb", 1);
  expect(rest, ":", text);
  gemm.ldc = take_count(rest, "ldc", 1);
  check_leading("lda", gemm.lda, least.lda);
  check_leading("ldb", gemm.ldb, least.ldb);
  check_leading("ldc", gemm.ldc, least.ldc);
}

void check_sizes(const Gemm& gemm) {
  const auto bytes = [](std::int64_t matrices, std::int64_t rows, std::int64_t leading) {
    return saturating_product(saturating_product(matrices, saturating_product(rows, leading)), 4);
  };
  if (std::max({bytes(gemm.batch, gemm.m, gemm.lda), bytes(gemm.batch, gemm.k, gemm.ldb),
                bytes(1, gemm.m, gemm.ldc)}) == INT64_MAX) {
    throw ParseError(fmt::format("'{}' has a matrix beyond 2^63 bytes", to_string(gemm)));
  }
}

}  // namespace

Gemm parse_gemm(std::string_view text) {
  std::string_view rest = text;
  const std::int64_t m = take_count(rest, "m", 1);
  expect(rest, "x", text);
  const std::int64_t k = take_count(rest, "k", 0);
  expect(rest, ":", text);
  const std::int64_t rows_of_b = take_count(rest, "k", 0);
  expect(rest, "x", text);
  Gemm gemm = dense(m, k, take_count(rest, "n", 1));
  if (rows_of_b != k) {
    throw ParseError(fmt::format("'{}': A has {} columns but B has {} rows", text, k, rows_of_b));
  }
  take(rest, "_");
  if (take(rest, "bs")) gemm.batch = take_count(rest, "bs", 0);
  take(rest, "_");
  if (take(rest, "ld")) take_leading(rest, gemm, text);
  take(rest, "_");
  if (!rest.empty())
    throw ParseError(fmt::format("'{}' at the end of '{}' is not bs16 or ld40:80:64", rest, text));
  check_sizes(gemm);
  return gemm;
}

std::string to_string(const Gemm& gemm) {
  const Gemm plain = dense(gemm.m, gemm.k, gemm.n);
  std::string text = fmt::format("{0}x{1}:{1}x{2}", gemm.m, gemm.k, gemm.n);
  if (gemm.batch != 1) text += fmt::format("bs{}", gemm.batch);
  if (gemm.lda != plain.lda || gemm.ldb != plain.ldb || gemm.ldc != plain.ldc) {
    text += fmt::format("ld{}:{}:{}", gemm.lda, gemm.ldb, gemm.ldc);
  }
  return text;
}

}  // namespace loopbrick
