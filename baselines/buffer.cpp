#include "baselines/buffer.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

#include "kernels/text.h"

namespace loopbrick {
namespace {

constexpr std::int64_t kSmallPage = 4096;
constexpr std::int64_t kHugePage = std::int64_t{2} << 20;

// Refused without asking the system, which may promise what it does not have.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;

std::int64_t round_up(std::int64_t bytes, std::int64_t page) {
  return saturating_sum(bytes, page - 1) / page * page;
}

}  // namespace

Buffer::Buffer(std::int64_t floats, Pages pages) {
  const std::int64_t page = pages == Pages::huge ? kHugePage : kSmallPage;
  size_bytes_ = round_up(saturating_product(floats, sizeof(float)), page);
  if (size_bytes_ > kMostBytes) throw std::bad_alloc();
  const auto bytes = static_cast<std::size_t>(size_bytes_);
  void* memory = std::aligned_alloc(static_cast<std::size_t>(page), bytes);
  if (!memory && bytes > 0) throw std::bad_alloc();
  memory_.reset(static_cast<float*>(memory));
  // A wish: without huge pages the kernel says no, and the small ones do.
  if (pages == Pages::huge && bytes > 0) madvise(memory, bytes, MADV_HUGEPAGE);
  if (bytes > 0) std::memset(memory, 0, bytes);
}

void Buffer::Free::operator()(float* memory) const noexcept { std::free(memory); }

}  // namespace loopbrick
