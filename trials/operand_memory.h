#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "problems/operands.h"
#include "problems/problem.h"
#include "trials/file_descriptor.h"

namespace loopbrick {

/// Memory that outlives the process that maps it: all operands of a problem, the outputs as the
/// reference computes them.
///
/// Errors  throws std::system_error when the system has no such memory.
FileDescriptor make_operand_memory(const Problem& problem);

/// Pages of this process between two unreadable ones.
class GuardedPages {
 public:
  /// `descriptor` -1: zeros of our own. The last of `bytes` bytes lies right before the second
  /// unreadable page.
  GuardedPages(std::int64_t bytes, int descriptor, std::int64_t offset, bool writable);
  ~GuardedPages();
  GuardedPages(GuardedPages&& other) noexcept;
  GuardedPages& operator=(GuardedPages&&) = delete;

  float* data() const noexcept { return data_; }

 private:
  std::byte* reserved_ = nullptr;
  std::size_t reserved_bytes_ = 0;
  float* data_ = nullptr;
};

/// Arrays of a problem together with the pages that hold them. Every array ends at an unreadable
/// page.
struct MappedArrays {
  std::vector<GuardedPages> pages;
  Arrays arrays;
};

/// All operands, in memory made by make_operand_memory.
///
/// Errors  throws std::system_error.
MappedArrays map_operands(const Problem& problem, int descriptor, bool writable);

/// The outputs only, in memory of this process; the inputs' spans are those of `inputs`.
MappedArrays map_outputs(const Problem& problem, const Arrays& inputs);

}  // namespace loopbrick
