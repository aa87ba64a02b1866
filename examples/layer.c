/* A fully connected layer on plain arrays, from C.
 *
 *     ./layer [WISDOM]      WISDOM is a file of `loopbrick export wisdom`
 */
#include <loopbrick/loopbrick.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(const char* what) {
  fprintf(stderr, "layer: %s: %s\n", what, loopbrick_last_error());
  return 1;
}

int main(int argc, char** argv) {
  const loopbrick_options options = {.wisdom = argc > 1 ? argv[1] : NULL};
  loopbrick_primitive* layer = loopbrick_create("fc fwd f32 mb32ic256oc128", &options);
  if (layer == NULL) return failed("loopbrick_create");
  printf("%s\n  %s  (%s)\n", loopbrick_problem(layer), loopbrick_schedule(layer), loopbrick_origin(layer));

  const loopbrick_operand shape_x = loopbrick_input(layer, 0), shape_w = loopbrick_input(layer, 1);
  const loopbrick_operand shape_y = loopbrick_output(layer, 0);
  float* x = malloc((size_t)shape_x.elements * sizeof(float));
  float* w = malloc((size_t)shape_w.elements * sizeof(float));
  float* y = malloc((size_t)shape_y.elements * sizeof(float));
  for (int64_t i = 0; i < shape_x.elements; ++i) x[i] = (float)(i % 7);
  for (int64_t i = 0; i < shape_w.elements; ++i) w[i] = (float)(i % 5);

  const float* inputs[] = {x, w};
  float* outputs[] = {y};
  if (loopbrick_compute(layer, inputs, outputs) != 0) return failed("loopbrick_compute");

  float want = 0;
  for (int c = 0; c < 256; ++c) want += x[3 * 256 + c] * w[5 * 256 + c];
  const float got = y[3 * 128 + 5];
  printf("y[3][5] = %g\n", got);
  free(x);
  free(w);
  free(y);
  loopbrick_destroy(layer);
  return got == want ? 0 : 1;
}
