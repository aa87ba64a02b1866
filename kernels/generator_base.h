#pragma once
#include <xbyak/xbyak.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/brgemm_spec.h"
#include "kernels/row_plan.h"
#include "kernels/vector_math.h"

namespace loopbrick {

/// What the f32 generators share: the loops around the register tile. A subclass knows one ISA's
/// vectors.
///
/// Loops, outside first: column tiles, repeats of lines, runs of row tiles, window groups, batch
/// entries, k.
///
/// Register plan (System V; those of the last two lines are saved, and only if used)
///
///     rsi call          rdi list cursor    rcx entries left   r10 scratch, k trips left
///     rax base of A     rdx base of B      r8, r9 A and B of this entry, advancing with k
///     r11 C of this tile, column and row offsets included
///     rbx column offset in bytes           rbp, r12 row offsets of A and C in bytes
///     r13 tiles left in a run              r14 repeats left   r15 B of the entry to prefetch
///     vectors: rows x vectors of C, then one row of B, then a broadcast element of A
class GeneratorBase : public Xbyak::CodeGenerator {
 protected:
  explicit GeneratorBase(const BrgemmSpec& spec);

  /// Emits the function and makes its pages read-execute; the subclass's constructor calls it.
  void generate();

  virtual Xbyak::Xmm vector(int index) const = 0;

  /// Column tails. Lanes outside are never read or written; loading sets them to zero.
  virtual void emit_prepare_tail(int lanes) = 0;
  virtual void emit_load_tail(const Xbyak::Xmm& to, const Xbyak::Address& from) = 0;
  virtual void emit_load_b_tail(const Xbyak::Xmm& to, const Xbyak::Address& from) = 0;
  virtual void emit_store_tail(const Xbyak::Address& to, const Xbyak::Xmm& from) = 0;

  /// tile(row, all columns) += A[row] * the row of B, where A[row] lies at the displacement from
  /// A's register.
  virtual void emit_update_row(int row, std::int64_t a_displacement);

  Xbyak::RegExp a_element(std::int64_t displacement) const;
  Xbyak::Xmm tile(int row, int col) const { return vector(row * vectors_ + col); }
  Xbyak::Xmm b_row(int col) const { return vector(rows_ * vectors_ + col); }
  Xbyak::Xmm a_value() const { return vector(rows_ * vectors_ + vectors_); }
  int vectors() const { return vectors_; }

 private:
  struct Columns {
    int first = 0;
    int count = 0;
    int times = 1;  ///< tiles of `count` columns, side by side
  };

  void emit_prologue();
  void emit_last_entry();
  void emit_epilogue();

  void emit_columns(const Columns& columns);
  void emit_rows();
  void emit_run(const RowRun& run);
  void emit_tile(const RowRun& run);

  void emit_start_tile();
  void emit_reduce_batch();
  void emit_bases();
  void emit_group(int group);
  void emit_skip_group(int group);
  void emit_load_count(int group);
  void emit_load_entry();
  void emit_prefetched_entry();

  void emit_reduce_k();
  void emit_rank_one_update(int step);
  void emit_prefetch(int step);
  void emit_fetch_a(int step);

  void emit_finish_tile();
  void emit_add_bias();
  void emit_activation();
  void emit_relu();
  void emit_store_tile();

  void emit_add(const Xbyak::Reg64& to, std::int64_t bytes);
  void emit_load(const Xbyak::Xmm& to, const Xbyak::Address& from, int col);
  template <typename Emit>
  void emit_times(const Xbyak::Reg64& counter, int times, Emit emit_body);

  RowPlan plan_for(int column_count) const;
  std::vector<int> active_rows(int group) const;
  bool is_tail(int col) const { return tail_lanes_ > 0 && col == vectors_ - 1; }
  Xbyak::Address c_address(int row, int col) const;
  std::int64_t column_bytes(int col) const;

  BrgemmSpec spec_;
  VectorMath math_;
  std::vector<Columns> columns_;
  bool rolls_columns_ = false;
  bool rolls_rows_ = false;
  std::vector<Xbyak::Reg64> saved_;

  // What is being emitted.
  Columns column_;
  int vectors_ = 0;
  int tail_lanes_ = 0;
  int first_row_ = 0;
  int rows_ = 0;
  std::vector<int> active_;
};

std::unique_ptr<Xbyak::CodeGenerator> generate_avx512_f32(const BrgemmSpec& spec);
std::unique_ptr<Xbyak::CodeGenerator> generate_avx2_f32(const BrgemmSpec& spec);

}  // namespace loopbrick
