#include "tests/guarded_floats.h"

#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace loopbrick {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

void protect(std::span<std::byte> pages, int access) {
  if (mprotect(pages.data(), pages.size(), access) == 0) return;
  throw std::system_error(errno, std::generic_category(), "mprotect of guarded pages");
}

/// An unreadable page, `used_bytes` readable ones, an unreadable page.
std::span<std::byte> map_between_guards(std::size_t used_bytes) {
  const std::size_t size = used_bytes + 2 * page_bytes();
  void* const start = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "mmap of guarded pages");
  }
  return {static_cast<std::byte*>(start), size};
}

std::span<std::byte> between_guards(std::span<std::byte> pages) {
  return pages.subspan(page_bytes(), pages.size() - 2 * page_bytes());
}

}  // namespace

GuardedFloats::GuardedFloats(std::size_t count, Flush flush) {
  const std::size_t page = page_bytes();
  pages_ = map_between_guards((count * sizeof(float) + page - 1) / page * page);
  const std::span<std::byte> used = between_guards(pages_);
  if (!used.empty()) protect(used, PROT_READ | PROT_WRITE);
  const std::size_t slack = flush == Flush::back ? used.size() - count * sizeof(float) : 0;
  values_ = {reinterpret_cast<float*>(used.data() + slack), count};
}

GuardedFloats::~GuardedFloats() {
  if (!pages_.empty()) munmap(pages_.data(), pages_.size());
}

GuardedFloats::GuardedFloats(GuardedFloats&& other) noexcept
    : pages_(std::exchange(other.pages_, {})), values_(std::exchange(other.values_, {})) {}

GuardedFloats& GuardedFloats::operator=(GuardedFloats&& other) noexcept {
  std::swap(pages_, other.pages_);
  std::swap(values_, other.values_);
  return *this;
}

void GuardedFloats::make_read_only() {
  const std::span<std::byte> used = between_guards(pages_);
  if (!used.empty()) protect(used, PROT_READ);
}

}  // namespace loopbrick
