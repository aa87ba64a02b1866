#include <exception>
#include <new>
#include <string>
#include <vector>

#include "library/loopbrick.h"
#include "library/primitive.h"

struct loopbrick_primitive {
  loopbrick::Primitive primitive;
};

namespace loopbrick {
namespace {

/// The one thing that outlives a call: C has no other way to be told why.
std::string& last_error() {
  thread_local std::string error;
  return error;
}

/// Nothing is thrown across the border to C.
template <typename Work>
bool succeeds(const Work& work) noexcept {
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    last_error() = "there is not enough memory for this";
  } catch (const std::exception& error) {
    last_error() = error.what();
  }
  return false;
}

int code(bool success) { return success ? 0 : 1; }

std::string text(const char* given) { return given == nullptr ? std::string() : given; }

PrimitiveOptions options_from(const loopbrick_options* options) {
  if (options == nullptr) return {};
  return {.threads = options->threads,
          .wisdom = text(options->wisdom),
          .schedule = text(options->schedule),
          .isa = text(options->isa),
          .transposes_once = options->transposes_once != 0};
}

loopbrick_operand described(const PrimitiveOperand& operand) {
  return {.name = operand.name.c_str(),
          .rank = static_cast<int>(operand.extents.size()),
          .extents = operand.extents.data(),
          .elements = operand.elements,
          .bytes = operand.bytes};
}

std::vector<const float*> inputs_from(const Primitive& primitive, const float* const* inputs) {
  return {inputs, inputs + primitive.inputs().size()};
}
std::vector<float*> outputs_from(const Primitive& primitive, float* const* outputs) {
  return {outputs, outputs + primitive.outputs().size()};
}

}  // namespace
}  // namespace loopbrick

using namespace loopbrick;

const char* loopbrick_last_error(void) { return last_error().c_str(); }

const char* loopbrick_version(void) {
  static const std::string version = library_version();
  return version.c_str();
}

loopbrick_primitive* loopbrick_create(const char* problem, const loopbrick_options* options) {
  loopbrick_primitive* made = nullptr;
  succeeds(
      [&] { made = new loopbrick_primitive{Primitive(text(problem), options_from(options))}; });
  return made;
}

void loopbrick_destroy(loopbrick_primitive* primitive) { delete primitive; }

const char* loopbrick_problem(const loopbrick_primitive* primitive) {
  return primitive->primitive.problem().c_str();
}
const char* loopbrick_conditions(const loopbrick_primitive* primitive) {
  return primitive->primitive.conditions().c_str();
}
const char* loopbrick_schedule(const loopbrick_primitive* primitive) {
  return primitive->primitive.schedule().c_str();
}
const char* loopbrick_origin(const loopbrick_primitive* primitive) {
  return primitive->primitive.origin().c_str();
}
double loopbrick_flops(const loopbrick_primitive* primitive) {
  return primitive->primitive.flops();
}
double loopbrick_stored_seconds(const loopbrick_primitive* primitive) {
  return primitive->primitive.stored_seconds();
}

int loopbrick_input_count(const loopbrick_primitive* primitive) {
  return static_cast<int>(primitive->primitive.inputs().size());
}
int loopbrick_output_count(const loopbrick_primitive* primitive) {
  return static_cast<int>(primitive->primitive.outputs().size());
}
loopbrick_operand loopbrick_input(const loopbrick_primitive* primitive, int number) {
  return described(primitive->primitive.inputs()[static_cast<std::size_t>(number)]);
}
loopbrick_operand loopbrick_output(const loopbrick_primitive* primitive, int number) {
  return described(primitive->primitive.outputs()[static_cast<std::size_t>(number)]);
}

int loopbrick_lay_out(const loopbrick_primitive* primitive, int input, const float* plain,
                      float* own) {
  return code(
      succeeds([&] { primitive->primitive.lay_out(static_cast<std::size_t>(input), plain, own); }));
}
int loopbrick_take_back(const loopbrick_primitive* primitive, int output, const float* own,
                        float* plain) {
  return code(succeeds(
      [&] { primitive->primitive.take_back(static_cast<std::size_t>(output), own, plain); }));
}

int loopbrick_prepare(loopbrick_primitive* primitive, const float* const* inputs) {
  Primitive& ready = primitive->primitive;
  return code(succeeds([&] { ready.prepare(inputs_from(ready, inputs)); }));
}
int loopbrick_run(loopbrick_primitive* primitive, const float* const* inputs,
                  float* const* outputs) {
  Primitive& ready = primitive->primitive;
  return code(
      succeeds([&] { ready.run(inputs_from(ready, inputs), outputs_from(ready, outputs)); }));
}
int loopbrick_compute(loopbrick_primitive* primitive, const float* const* inputs,
                      float* const* outputs) {
  Primitive& ready = primitive->primitive;
  return code(
      succeeds([&] { ready.compute(inputs_from(ready, inputs), outputs_from(ready, outputs)); }));
}
