#include "baselines/onednn_recipes.h"

namespace loopbrick {

Recipe onednn_gemm(const dnnl::engine& engine, const Problem& problem) {
  const Gemm& g = std::get<Gemm>(problem.shape);
  const memory::dim depth = g.batch * g.k;
  const memory::dim lda = g.batch == 1 ? g.lda : depth;
  const memory::desc a = strided({g.m, depth}, {lda, 1});
  const memory::desc b = strided({depth, g.n}, {g.ldb, 1});
  const memory::desc c = strided({g.m, g.n}, {g.ldc, 1});
  const dnnl::matmul::primitive_desc made({a, b, c}, attributes(problem), engine);
  return recipe_of<dnnl::matmul>(engine, made,
                                 {Port{.operand = "a",
                                       .argument = DNNL_ARG_SRC,
                                       .plain = strided({g.m, g.batch, g.k}, {g.k, g.m * g.k, 1}),
                                       .stored = strided({g.m, g.batch, g.k}, {lda, g.k, 1}),
                                       .seen = a},
                                  input_port("b", DNNL_ARG_WEIGHTS, f32({depth, g.n}, Tag::ab), b),
                                  output_port("c", DNNL_ARG_DST, f32({g.m, g.n}, Tag::ab), c)});
}

}  // namespace loopbrick
