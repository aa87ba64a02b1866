#include "loops/slope_product.h"

#include "loops/vector_functions.h"

namespace loopbrick {

namespace {

template <Activation activation>
[[gnu::always_inline]] inline float slope_at(float kept) {
  switch (activation) {
    case Activation::none:
      return 1.0F;
    case Activation::relu:
      return kept > 0.0F ? 1.0F : 0.0F;
    case Activation::sigmoid:
      return kept * (1.0F - kept);
    case Activation::tanh:
      return 1.0F - kept * kept;
    case Activation::gelu_erf:
      return slope_of_gelu_erf(kept);
    case Activation::gelu_tanh:
      return slope_of_gelu_tanh(kept);
  }
  return 1.0F;
}

template <Activation activation>
[[gnu::always_inline]] inline void multiply(const float* dy, const float* kept, float* dz,
                                            std::int64_t count) {
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) dz[i] = dy[i] * slope_at<activation>(kept[i]);
}

template <Activation activation>
void plain(const float* dy, const float* kept, float* dz, std::int64_t count) noexcept {
  multiply<activation>(dy, kept, dz, count);
}

template <Activation activation>
[[gnu::target("arch=x86-64-v3")]] void avx2(const float* dy, const float* kept, float* dz,
                                            std::int64_t count) noexcept {
  multiply<activation>(dy, kept, dz, count);
}

template <Activation activation>
[[gnu::target("arch=x86-64-v4,prefer-vector-width=512")]] void avx512(const float* dy,
                                                                      const float* kept, float* dz,
                                                                      std::int64_t count) noexcept {
  multiply<activation>(dy, kept, dz, count);
}

template <Activation activation>
SlopeProduct product_for(Isa isa) {
  if (isa == Isa::avx512) return avx512<activation>;
  return isa == Isa::avx2 ? avx2<activation> : plain<activation>;
}

}  // namespace

SlopeProduct slope_product(Isa isa, Activation activation) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return product_for<Activation::relu>(isa);
    case Activation::sigmoid:
      return product_for<Activation::sigmoid>(isa);
    case Activation::tanh:
      return product_for<Activation::tanh>(isa);
    case Activation::gelu_erf:
      return product_for<Activation::gelu_erf>(isa);
    case Activation::gelu_tanh:
      return product_for<Activation::gelu_tanh>(isa);
  }
  return product_for<Activation::none>(isa);
}

}  // namespace loopbrick
