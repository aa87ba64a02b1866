#pragma once
/* The C interface of the installed library: what <loopbrick/primitive.h> says holds here too.
 *
 * A function that can fail returns NULL or a number other than 0, and loopbrick_last_error() then
 * says why in one line. Nothing is thrown. Texts that are returned belong to the primitive. */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A layer made ready to run. */
typedef struct loopbrick_primitive loopbrick_primitive;

/* Each may be 0 or NULL: chosen for you. See PrimitiveOptions. */
typedef struct loopbrick_options {
  int threads;
  const char* wisdom;
  const char* schedule;
  const char* isa;
  int transposes_once;
} loopbrick_options;

/* See PrimitiveOperand. `extents` has `rank` numbers. */
typedef struct loopbrick_operand {
  const char* name;
  int rank;
  const int64_t* extents;
  int64_t elements;
  int64_t bytes;
} loopbrick_operand;

/* Of the latest function that failed in this thread; "" if none did. */
const char* loopbrick_last_error(void);
const char* loopbrick_version(void);

/* `options` may be NULL. */
loopbrick_primitive* loopbrick_create(const char* problem, const loopbrick_options* options);
void loopbrick_destroy(loopbrick_primitive* primitive); /* NULL: nothing happens */

const char* loopbrick_problem(const loopbrick_primitive* primitive);
const char* loopbrick_conditions(const loopbrick_primitive* primitive);
const char* loopbrick_schedule(const loopbrick_primitive* primitive);
const char* loopbrick_origin(const loopbrick_primitive* primitive);
double loopbrick_flops(const loopbrick_primitive* primitive);
double loopbrick_stored_seconds(const loopbrick_primitive* primitive);

int loopbrick_input_count(const loopbrick_primitive* primitive);
int loopbrick_output_count(const loopbrick_primitive* primitive);

/* Need a number below the count. */
loopbrick_operand loopbrick_input(const loopbrick_primitive* primitive, int number);
loopbrick_operand loopbrick_output(const loopbrick_primitive* primitive, int number);

int loopbrick_lay_out(const loopbrick_primitive* primitive, int input, const float* plain,
                      float* own);
int loopbrick_take_back(const loopbrick_primitive* primitive, int output, const float* own,
                        float* plain);

/* Arrays of loopbrick_input_count and loopbrick_output_count pointers. */
int loopbrick_prepare(loopbrick_primitive* primitive, const float* const* inputs);
int loopbrick_run(loopbrick_primitive* primitive, const float* const* inputs,
                  float* const* outputs);
int loopbrick_compute(loopbrick_primitive* primitive, const float* const* inputs,
                      float* const* outputs);

#ifdef __cplusplus
}
#endif
