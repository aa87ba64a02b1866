#include <string>

#include "baselines/applicable.h"
#include "baselines/doubt.h"
#include "baselines/eigen_product.h"
#include "baselines/large_gemm.h"
#include "baselines/rows.h"

namespace loopbrick {
namespace {

std::string version() {
  const EigenBuild build = eigen_build();
  return std::to_string(build.world) + '.' + std::to_string(build.major_version) + '.' +
         std::to_string(build.minor_version);
}

std::variant<Runnable, Refusal> prepare(const Problem& problem, std::string_view choice,
                                        const Conditions& conditions) {
  if (const auto reason = why_no_baseline(problem, choice)) return *reason;
  if (eigen_build().isa > best_isa()) {
    return Refusal{"Eigen was compiled for another CPU than this one: build loopbrick here"};
  }
  auto result = prepare_with_large_gemm(problem, conditions, eigen_product);
  if (auto* runnable = std::get_if<Runnable>(&result)) {
    runnable->implementation = "gebp:" + std::string(to_string(eigen_build().isa));
    runnable->flag = doubt(runnable->implementation, wanted_isa(conditions));
  }
  return result;
}

}  // namespace

Implementation eigen_row() {
  return {.name = "eigen",
          .sentence = "one large Eigen matrix product, for a convolution on the columns of im2col",
          .version = version,
          .prepare = prepare};
}

}  // namespace loopbrick
