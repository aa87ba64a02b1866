// Loops that measure what the machine can do. They are inline assembly and not intrinsics so that
// the debug build measures the same peak as the release build: at -O1 the compiler keeps an array
// of accumulators in memory.
#include "measure/register_loops.h"

namespace loopbrick {
namespace {

/// 16 accumulators: at two results a cycle and a latency of four, eight would do.
__attribute__((target("avx512f"))) void multiply_add_512(std::int64_t rounds) {
  asm volatile(
      "vpxorq %%zmm30, %%zmm30, %%zmm30\n"
      "vpxorq %%zmm31, %%zmm31, %%zmm31\n"
      ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
      "vpxorq %%zmm\\r, %%zmm\\r, %%zmm\\r\n"
      ".endr\n"
      "1:\n"
      ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
      "vfmadd231ps %%zmm30, %%zmm31, %%zmm\\r\n"
      ".endr\n"
      "dec %0\n"
      "jnz 1b\n"
      "vzeroupper\n"
      : "+r"(rounds)
      :
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm30", "xmm31");
}

/// 14 accumulators, two sources.
__attribute__((target("avx2,fma"))) void multiply_add_256(std::int64_t rounds) {
  asm volatile(
      ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
      "vpxor %%ymm\\r, %%ymm\\r, %%ymm\\r\n"
      ".endr\n"
      "1:\n"
      ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13\n"
      "vfmadd231ps %%ymm14, %%ymm15, %%ymm\\r\n"
      ".endr\n"
      "dec %0\n"
      "jnz 1b\n"
      "vzeroupper\n"
      : "+r"(rounds)
      :
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

/// Without fused multiply-adds: seven products and seven sums, each on its own register.
void multiply_add_128(std::int64_t rounds) {
  asm volatile(
      ".irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
      "xorps %%xmm\\r, %%xmm\\r\n"
      ".endr\n"
      "1:\n"
      ".irp r, 0,1,2,3,4,5,6\n"
      "mulps %%xmm14, %%xmm\\r\n"
      ".endr\n"
      ".irp r, 7,8,9,10,11,12,13\n"
      "addps %%xmm15, %%xmm\\r\n"
      ".endr\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(rounds)
      :
      : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
        "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

/// Register plus register: some CPUs add constants while renaming, in no time.
void dependent_adds(std::int64_t rounds) {
  std::int64_t sum = 0;
  const std::int64_t one = 1;
  asm volatile(
      "1:\n"
      ".rept 64\n"
      "add %2, %1\n"
      ".endr\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(rounds), "+r"(sum)
      : "r"(one)
      : "cc");
}

__attribute__((target("avx512f"))) void read_512(const void* data, std::int64_t bytes) {
  asm volatile(
      "1:\n"
      "vmovaps (%0), %%zmm0\n"
      "vmovaps 64(%0), %%zmm1\n"
      "vmovaps 128(%0), %%zmm2\n"
      "vmovaps 192(%0), %%zmm3\n"
      "vmovaps 256(%0), %%zmm4\n"
      "vmovaps 320(%0), %%zmm5\n"
      "vmovaps 384(%0), %%zmm6\n"
      "vmovaps 448(%0), %%zmm7\n"
      "add $512, %0\n"
      "sub $512, %1\n"
      "jnz 1b\n"
      "vzeroupper\n"
      : "+r"(data), "+r"(bytes)
      :
      : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
}

__attribute__((target("avx2"))) void read_256(const void* data, std::int64_t bytes) {
  asm volatile(
      "1:\n"
      ".irp at, 0,32,64,96,128,160,192,224,256,288,320,352,384,416,448,480\n"
      "vmovaps \\at(%0), %%ymm0\n"
      ".endr\n"
      "add $512, %0\n"
      "sub $512, %1\n"
      "jnz 1b\n"
      "vzeroupper\n"
      : "+r"(data), "+r"(bytes)
      :
      : "cc", "memory", "xmm0");
}

void read_128(const void* data, std::int64_t bytes) {
  asm volatile(
      "1:\n"
      ".irp at, 0,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240\n"
      "movaps \\at(%0), %%xmm0\n"
      "movaps 256+\\at(%0), %%xmm1\n"
      ".endr\n"
      "add $512, %0\n"
      "sub $512, %1\n"
      "jnz 1b\n"
      : "+r"(data), "+r"(bytes)
      :
      : "cc", "memory", "xmm0", "xmm1");
}

}  // namespace

RegisterLoop multiply_add_loop(Isa isa) {
  if (isa == Isa::avx512) return {multiply_add_512, 16 * 16 * 2.0};
  if (isa == Isa::avx2) return {multiply_add_256, 14 * 8 * 2.0};
  return {multiply_add_128, 14 * 4 * 1.0};
}

RegisterLoop dependent_add_loop() { return {dependent_adds, 64.0}; }

ReadLoop read_loop(Isa isa) {
  if (isa == Isa::avx512) return read_512;
  return isa == Isa::avx2 ? read_256 : read_128;
}

}  // namespace loopbrick
