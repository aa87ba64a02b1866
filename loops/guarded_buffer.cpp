#include "loops/guarded_buffer.h"

#include <new>
#include <sys/mman.h>
#include <utility>

#include "kernels/text.h"

namespace loopbrick {

namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kHugePage = 2 << 20;

std::int64_t round_up(std::int64_t value, std::int64_t to) {
  return saturating_sum(value, to - 1) / to * to;
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::int64_t bytes, Pages pages)
    : bytes_(static_cast<std::size_t>(bytes)) {
  const std::int64_t whole = round_up(bytes, 64);
  const std::int64_t page = pages == Pages::huge ? kHugePage : kPage;
  const std::int64_t usable = round_up(whole, page);
  const std::int64_t mapped = saturating_sum(usable, kPage + page);
  void* mapping = mmap(nullptr, static_cast<std::size_t>(mapped), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = mapping;
  mapped_ = static_cast<std::size_t>(mapped);
  const auto start =
      round_up(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(mapping)), page);
  auto* first = reinterpret_cast<std::byte*>(start);
  if (pages == Pages::huge) madvise(first, static_cast<std::size_t>(usable), MADV_HUGEPAGE);
  mprotect(first + usable, static_cast<std::size_t>(kPage), PROT_NONE);
  pages_ = {first, static_cast<std::size_t>(usable)};
  data_ = first + (usable - whole);
}

void GuardedBuffer::allow_writes(bool allowed) {
  if (pages_.empty()) return;
  const int protection = allowed ? PROT_READ | PROT_WRITE : PROT_READ;
  if (mprotect(pages_.data(), pages_.size(), protection) != 0) throw std::bad_alloc();
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      pages_(std::exchange(other.pages_, {})),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(pages_, other.pages_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace loopbrick
