#include "kernels/generator_base.h"

#include <algorithm>
#include <cstddef>

#include "kernels/brgemm_kernel.h"
#include "kernels/fault.h"
#include "kernels/register_budget.h"

namespace loopbrick {
namespace {

constexpr std::size_t kFirstCodeBytes = 16384;  // grows when a kernel needs more
constexpr int kCacheLineBytes = 64;

/// Steps of k in one trip. 16: the loop's own instructions vanish, a 6 x 4 tile stays at 5 KB of
/// code.
constexpr int kUnroll = 16;

/// Shorter sums are laid out without a loop.
constexpr int kLeastLooped = 2 * kUnroll;

/// Both list forms: A in the first half of an entry, B in the second.
constexpr int kEntryBytes = 16;
constexpr int kEntryB = 8;
static_assert(sizeof(BatchAddress) == kEntryBytes && sizeof(BatchOffset) == kEntryBytes);
static_assert(offsetof(BatchAddress, b) == kEntryB && offsetof(BatchOffset, b) == kEntryB);

/// Where the address of the list's last entry is kept, below the stack pointer: the System V ABI
/// leaves 128 bytes there to functions that call nothing.
constexpr int kLastEntry = -8;

constexpr std::int64_t bytes(std::int64_t elements) { return elements * 4; }

Xbyak::Address at(const Xbyak::Reg64& base, std::int64_t displacement) {
  return Xbyak::util::ptr[base + static_cast<std::size_t>(displacement)];
}

bool fits_32_bits(std::int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

std::uint32_t immediate(std::int64_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace

GeneratorBase::GeneratorBase(const BrgemmSpec& spec)
    : CodeGenerator(kFirstCodeBytes, Xbyak::AutoGrow), spec_(spec), math_(*this, spec.isa) {
  if (kFault == Fault::window) {
    for (RowWindow& window : spec_.windows) ++window.first;
  }
  const int cols = register_tile(spec).cols;
  columns_ = {{.first = 0, .count = cols, .times = spec.n / cols}};
  if (const int rest = spec.n % cols; rest > 0) {
    columns_.push_back({.first = spec.n - rest, .count = rest, .times = 1});
  }
  rolls_columns_ = columns_.front().times > 1;
  for (const Columns& columns : columns_) {
    const RowPlan plan = plan_for(columns.count);
    rolls_rows_ = rolls_rows_ || plan.repeats > 1 ||
                  std::any_of(plan.runs.begin(), plan.runs.end(),
                              [](const RowRun& run) { return run.times > 1; });
  }
  if (rolls_columns_) saved_ = {rbx};
  if (rolls_rows_) saved_.insert(saved_.end(), {rbp, r12, r13, r14});
  if (spec.ahead > 0) saved_.push_back(r15);
}

void GeneratorBase::generate() {
  emit_prologue();
  for (const Columns& columns : columns_) emit_columns(columns);
  emit_epilogue();
  math_.emit_constants();
  ready(PROTECT_RE);
}

void GeneratorBase::emit_prologue() {
  for (const Xbyak::Reg64& reg : saved_) push(reg);
  if (const int tail = columns_.back().count % lanes(spec_.isa); tail > 0) {
    emit_prepare_tail(kFault == Fault::tail_mask ? lanes(spec_.isa) : tail);
  }
  if (spec_.ahead > 0 && spec_.form != BatchForm::stride) emit_last_entry();
}

/// The list has as many entries as the counts of all groups say.
void GeneratorBase::emit_last_entry() {
  mov(r10, at(rsi, offsetof(BrgemmCall, counts)));
  mov(rcx, ptr[r10]);
  for (int group = 1; group < group_count(spec_); ++group) add(rcx, at(r10, group * 8));
  shl(rcx, 4);
  add(rcx, at(rsi, offsetof(BrgemmCall, list)));
  sub(rcx, kEntryBytes);
  mov(at(rsp, kLastEntry), rcx);
}

void GeneratorBase::emit_epilogue() {
  for (auto reg = saved_.rbegin(); reg != saved_.rend(); ++reg) pop(*reg);
  vzeroupper();
  ret();
}

template <typename Emit>
void GeneratorBase::emit_times(const Xbyak::Reg64& counter, int times, Emit emit_body) {
  if (times == 1) return emit_body();
  Xbyak::Label again;
  mov(counter.cvt32(), times);
  L(again);
  emit_body();
  dec(counter);
  jnz(again, T_NEAR);
}

void GeneratorBase::emit_columns(const Columns& columns) {
  column_ = columns;
  vectors_ = vector_count(spec_.isa, columns.count);
  tail_lanes_ = columns.count % lanes(spec_.isa);
  if (columns.times == 1) return emit_rows();

  Xbyak::Label next_columns;
  xor_(ebx, ebx);
  L(next_columns);
  emit_rows();
  add(rbx, immediate(bytes(columns.count)));
  cmp(rbx, immediate(bytes(columns.count) * columns.times));
  jb(next_columns, T_NEAR);
}

void GeneratorBase::emit_rows() {
  const RowPlan plan = plan_for(column_.count);
  if (rolls_rows_) {
    xor_(ebp, ebp);
    xor_(r12d, r12d);
  }
  emit_times(r14, plan.repeats, [&] {
    for (const RowRun& run : plan.runs) emit_run(run);
    if (plan.repeats == 1) return;
    emit_add(rbp, bytes(plan.repeat_lines * spec_.a_line_stride));
    emit_add(r12, bytes(plan.repeat_lines * spec_.c_line_stride));
  });
}

/// The tiles of a run lie in one line: each is one row stride times its rows further.
void GeneratorBase::emit_run(const RowRun& run) {
  const std::int64_t a_step = bytes(run.rows * spec_.a_row_stride);
  const std::int64_t c_step = bytes(run.rows * spec_.ldc);
  emit_times(r13, run.times, [&] {
    emit_tile(run);
    if (run.times == 1) return;
    emit_add(rbp, a_step);
    emit_add(r12, c_step);
  });
  if (run.times == 1) return;
  emit_add(rbp, -run.times * a_step);
  emit_add(r12, -run.times * c_step);
}

void GeneratorBase::emit_tile(const RowRun& run) {
  first_row_ = run.first;
  rows_ = run.rows;
  emit_start_tile();
  emit_reduce_batch();
  emit_finish_tile();
}

void GeneratorBase::emit_start_tile() {
  mov(r11, at(rsi, offsetof(BrgemmCall, c)));
  if (column_.times > 1) add(r11, rbx);
  if (rolls_rows_) add(r11, r12);
  const bool reads_c = spec_.accumulate && kFault != Fault::overwrite;
  for (int row = 0; row < rows_; ++row) {
    for (int col = 0; col < vectors_; ++col) {
      const Xbyak::Xmm reg = tile(row, col);
      if (reads_c) {
        emit_load(reg, c_address(row, col), col);
      } else {
        vxorps(reg, reg, reg);
      }
    }
  }
}

void GeneratorBase::emit_reduce_batch() {
  int last_active = -1;
  for (int group = 0; group < group_count(spec_); ++group) {
    if (!active_rows(group).empty()) last_active = group;
  }
  if (spec_.k == 0 || last_active < 0) return;
  emit_bases();
  for (int group = 0; group <= last_active; ++group) {
    active_ = active_rows(group);
    active_.empty() ? emit_skip_group(group) : emit_group(group);
  }
}

/// The list, and the operands that offsets and strides start from; tile offsets are added here
/// once.
void GeneratorBase::emit_bases() {
  if (spec_.form != BatchForm::stride) mov(rdi, at(rsi, offsetof(BrgemmCall, list)));
  if (spec_.form == BatchForm::address) return;
  mov(rax, at(rsi, offsetof(BrgemmCall, a)));
  mov(rdx, at(rsi, offsetof(BrgemmCall, b)));
  if (rolls_rows_) add(rax, rbp);
  if (column_.times > 1) add(rdx, rbx);
}

void GeneratorBase::emit_group(int group) {
  Xbyak::Label next_entry;
  Xbyak::Label done;
  emit_load_count(group);
  if (kFault == Fault::last_entry) dec(rcx);
  test(rcx, rcx);
  jle(done, T_NEAR);
  L(next_entry);
  if (spec_.ahead > 0) emit_prefetched_entry();
  emit_load_entry();
  emit_reduce_k();
  dec(rcx);
  jnz(next_entry, T_NEAR);
  L(done);
}

/// This tile has no row for the group's entries; those of the next group lie behind them.
void GeneratorBase::emit_skip_group(int group) {
  emit_load_count(group);
  if (spec_.form != BatchForm::stride) {
    shl(rcx, 4);
    add(rdi, rcx);
    return;
  }
  mov(r8, bytes(spec_.a_batch_stride));
  mov(r9, bytes(spec_.b_batch_stride));
  imul(r8, rcx);
  imul(r9, rcx);
  add(rax, r8);
  add(rdx, r9);
}

void GeneratorBase::emit_load_count(int group) {
  mov(r10, at(rsi, offsetof(BrgemmCall, counts)));
  mov(rcx, at(r10, group * 8));
}

void GeneratorBase::emit_load_entry() {
  if (spec_.form == BatchForm::stride) {
    mov(r8, rax);
    mov(r9, rdx);
    emit_add(rax, bytes(spec_.a_batch_stride));
    emit_add(rdx, bytes(spec_.b_batch_stride));
    return;
  }
  mov(r8, ptr[rdi]);
  mov(r9, at(rdi, kEntryB));
  add(rdi, kEntryBytes);
  if (spec_.form == BatchForm::offset) {
    lea(r8, ptr[rax + r8 * 4]);
    lea(r9, ptr[rdx + r9 * 4]);
    return;
  }
  if (rolls_rows_) add(r8, rbp);
  if (column_.times > 1) add(r9, rbx);
}

/// B of the entry `ahead` further, or of the last one. A prefetch never faults, but reading the
/// list would.
void GeneratorBase::emit_prefetched_entry() {
  if (spec_.form == BatchForm::stride) {
    mov(r15, bytes(spec_.ahead * spec_.b_batch_stride));
    add(r15, rdx);
    return;
  }
  lea(r15, at(rdi, std::int64_t{spec_.ahead} * kEntryBytes));
  cmp(r15, at(rsp, kLastEntry));
  cmova(r15, at(rsp, kLastEntry));
  mov(r15, at(r15, kEntryB));
  if (spec_.form == BatchForm::offset) {
    lea(r15, ptr[rdx + r15 * 4]);
  } else if (column_.times > 1) {
    add(r15, rbx);
  }
}

void GeneratorBase::emit_reduce_k() {
  const int trips = spec_.k < kLeastLooped ? 0 : spec_.k / kUnroll;
  if (trips > 0) {
    emit_times(r10, trips, [&] {
      for (int step = 0; step < kUnroll; ++step) emit_rank_one_update(step);
      emit_add(r8, bytes(kUnroll * spec_.a_k_stride));
      emit_add(r9, bytes(kUnroll * spec_.ldb));
      if (spec_.ahead > 0) emit_add(r15, bytes(kUnroll * spec_.ldb));
    });
  }
  for (int step = 0; step < spec_.k - trips * kUnroll; ++step) emit_rank_one_update(step);
}

void GeneratorBase::emit_rank_one_update(int step) {
  for (int col = 0; col < vectors_; ++col) {
    const Xbyak::Address from = at(r9, bytes(step * spec_.ldb) + column_bytes(col));
    is_tail(col) ? emit_load_b_tail(b_row(col), from) : vmovups(b_row(col), from);
  }
  if (spec_.ahead > 0) emit_prefetch(step);
  if (spec_.fetch_a != 0) emit_fetch_a(step);
  for (const int row : active_) {
    emit_update_row(row, bytes(a_offset(spec_, first_row_ + row) + step * spec_.a_k_stride));
  }
}

void GeneratorBase::emit_prefetch(int step) {
  const std::int64_t start = bytes(step * spec_.ldb + column_.first);
  for (std::int64_t done = 0; done < bytes(column_.count); done += kCacheLineBytes) {
    prefetcht0(at(r15, start + done));
  }
}

/// One line of each row in the steps that read one line of each row: the prefetches stand apart.
void GeneratorBase::emit_fetch_a(int step) {
  const int steps = static_cast<int>(kCacheLineBytes / bytes(1));
  const auto rows = static_cast<int>(active_.size());
  for (int i = step % steps; i < rows; i += steps) {
    const int row = active_[static_cast<std::size_t>(i)];
    const std::int64_t line = step / steps * kCacheLineBytes;
    prefetcht0(at(r8, bytes(a_offset(spec_, first_row_ + row) + spec_.fetch_a) + line));
  }
}

void GeneratorBase::emit_update_row(int row, std::int64_t a_displacement) {
  vbroadcastss(a_value(), ptr[a_element(a_displacement)]);
  for (int col = 0; col < vectors_; ++col) vfmadd231ps(tile(row, col), a_value(), b_row(col));
}

void GeneratorBase::emit_finish_tile() {
  if (spec_.bias) emit_add_bias();
  emit_activation();
  emit_store_tile();
}

void GeneratorBase::emit_add_bias() {
  mov(r10, at(rsi, offsetof(BrgemmCall, bias)));
  if (column_.times > 1) add(r10, rbx);
  for (int col = 0; col < vectors_; ++col) {
    emit_load(b_row(col), at(r10, column_bytes(col)), col);
    for (int row = 0; row < rows_; ++row) vaddps(tile(row, col), tile(row, col), b_row(col));
  }
}

/// The rows of A and B are no longer needed: their registers are the scratch.
void GeneratorBase::emit_activation() {
  if (spec_.activation == Activation::none) return;
  if (spec_.activation == Activation::relu) return emit_relu();
  for (int i = 0; i < rows_ * vectors_; ++i) {
    math_.emit(spec_.activation, vector(i), b_row(0), a_value());
  }
}

/// The sum is the second operand: vmaxps returns that one when either is NaN.
void GeneratorBase::emit_relu() {
  vxorps(a_value(), a_value(), a_value());
  for (int row = 0; row < rows_; ++row) {
    for (int col = 0; col < vectors_; ++col) vmaxps(tile(row, col), a_value(), tile(row, col));
  }
}

void GeneratorBase::emit_store_tile() {
  for (int row = 0; row < rows_; ++row) {
    for (int col = 0; col < vectors_; ++col) {
      const Xbyak::Address to = c_address(row, col);
      if (is_tail(col)) {
        emit_store_tail(to, tile(row, col));
      } else if (spec_.stream) {
        vmovntps(to, tile(row, col));
      } else {
        vmovups(to, tile(row, col));
      }
    }
  }
}

/// Clobbers r10 where the number has more than 32 bits.
void GeneratorBase::emit_add(const Xbyak::Reg64& to, std::int64_t bytes) {
  if (bytes == 0) return;
  if (fits_32_bits(bytes)) {
    add(to, immediate(bytes));
    return;
  }
  mov(r10, bytes);
  add(to, r10);
}

void GeneratorBase::emit_load(const Xbyak::Xmm& to, const Xbyak::Address& from, int col) {
  is_tail(col) ? emit_load_tail(to, from) : vmovups(to, from);
}

RowPlan GeneratorBase::plan_for(int column_count) const {
  const int most_rows = spec_.tile_rows > 0
                            ? spec_.tile_rows
                            : usual_tile_rows(spec_.isa, vector_count(spec_.isa, column_count));
  return row_plan(spec_, most_rows);
}

/// Rows of this tile that entries of the group touch.
std::vector<int> GeneratorBase::active_rows(int group) const {
  std::vector<int> rows;
  for (int row = 0; row < rows_; ++row) {
    if (is_active(spec_, group, first_row_ + row)) rows.push_back(row);
  }
  return rows;
}

Xbyak::RegExp GeneratorBase::a_element(std::int64_t displacement) const {
  return r8 + static_cast<std::size_t>(displacement);
}

Xbyak::Address GeneratorBase::c_address(int row, int col) const {
  return at(r11, bytes(c_offset(spec_, first_row_ + row)) + column_bytes(col));
}

std::int64_t GeneratorBase::column_bytes(int col) const {
  return bytes(column_.first + std::int64_t{col} * lanes(spec_.isa));
}

}  // namespace loopbrick
