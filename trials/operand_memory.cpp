#include "trials/operand_memory.h"

#include <cerrno>
#include <sys/mman.h>
#include <system_error>
#include <utility>

namespace loopbrick {
namespace {

constexpr std::int64_t kPage = 4096;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Whole pages for `bytes`, at least one.
std::int64_t paged(std::int64_t bytes) {
  return bytes <= kPage ? kPage : (bytes + kPage - 1) / kPage * kPage;
}

std::int64_t bytes_of(const Operand& operand) {
  return elements(operand) * static_cast<std::int64_t>(sizeof(float));
}

std::span<float> span_of(const GuardedPages& pages, const Operand& operand) {
  return {pages.data(), static_cast<std::size_t>(elements(operand))};
}

}  // namespace

FileDescriptor make_operand_memory(const Problem& problem) {
  std::int64_t bytes = 0;
  for (const Operand& operand : operands(problem)) bytes += paged(bytes_of(operand));
  FileDescriptor memory(memfd_create("loopbrick operands", MFD_CLOEXEC));
  if (memory.get() < 0) fail("making memory for the operands");
  if (ftruncate(memory.get(), bytes) != 0) fail("sizing the memory for the operands");
  return memory;
}

GuardedPages::GuardedPages(std::int64_t bytes, int descriptor, std::int64_t offset, bool writable) {
  const std::int64_t usable = paged(bytes);
  reserved_bytes_ = static_cast<std::size_t>(usable + 2 * kPage);
  void* const reserved =
      mmap(nullptr, reserved_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) fail("reserving addresses for an operand");
  reserved_ = static_cast<std::byte*>(reserved);

  const int rights = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  const int kind = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  std::byte* const start = reserved_ + kPage;
  if (mmap(start, static_cast<std::size_t>(usable), rights, kind | MAP_FIXED, descriptor, offset) ==
      MAP_FAILED) {
    const int error = errno;
    munmap(reserved_, reserved_bytes_);
    errno = error;
    fail("mapping an operand");
  }
  data_ = reinterpret_cast<float*>(start + usable - bytes);
}

GuardedPages::~GuardedPages() {
  if (reserved_ != nullptr) munmap(reserved_, reserved_bytes_);
}

GuardedPages::GuardedPages(GuardedPages&& other) noexcept
    : reserved_(std::exchange(other.reserved_, nullptr)),
      reserved_bytes_(other.reserved_bytes_),
      data_(other.data_) {}

MappedArrays map_operands(const Problem& problem, int descriptor, bool writable) {
  MappedArrays mapped;
  std::int64_t offset = 0;
  for (const Operand& operand : operands(problem)) {
    mapped.pages.emplace_back(bytes_of(operand), descriptor, offset, writable);
    mapped.arrays.push_back(span_of(mapped.pages.back(), operand));
    offset += paged(bytes_of(operand));
  }
  return mapped;
}

MappedArrays map_outputs(const Problem& problem, const Arrays& inputs) {
  MappedArrays mapped;
  mapped.arrays = inputs;
  const std::vector<Operand> all = operands(problem);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].output) continue;
    mapped.pages.emplace_back(bytes_of(all[i]), -1, 0, true);
    mapped.arrays[i] = span_of(mapped.pages.back(), all[i]);
  }
  return mapped;
}

}  // namespace loopbrick
