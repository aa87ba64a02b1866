#include "trials/request.h"

namespace loopbrick {
namespace {

int small(Fields& fields) { return static_cast<int>(fields.count()); }

}  // namespace

void add_arm(Message& message, const Arm& arm) {
  message.fields.push_back(arm.implementation);
  message.fields.push_back(arm.choice);
}

Arm read_arm(Fields& fields) {
  Arm arm;
  arm.implementation = fields.text();
  arm.choice = fields.text();
  return arm;
}

/// Seeds use all 64 bits; fields are signed.
std::string seed_text(std::uint64_t seed) {
  return std::to_string(static_cast<std::int64_t>(seed));
}
std::uint64_t read_seed(Fields& fields) { return static_cast<std::uint64_t>(fields.count()); }

void add_share(Message& message, const RoundShare& share) {
  message.fields.insert(
      message.fields.end(),
      {std::to_string(share.first), std::to_string(share.count), std::to_string(share.process),
       number_text(share.sample_seconds), seed_text(share.seed)});
}

RoundShare read_share(Fields& fields) {
  RoundShare share;
  share.first = small(fields);
  share.count = small(fields);
  share.process = small(fields);
  share.sample_seconds = fields.number();
  share.seed = read_seed(fields);
  return share;
}

Message setup_request(const Examination& examination) {
  Message message{.verb = "setup",
                  .fields = {to_string(examination.problem), to_string(examination.conditions),
                             seed_text(examination.seed), examination.has_perf_map ? "1" : "0"}};
  for (const FilledMemory& memory : examination.memory) {
    message.fields.emplace_back(to_string(memory.fill));
    message.fields.push_back(std::to_string(memory.descriptor));
  }
  return message;
}

Examination read_setup(const Message& message) {
  Fields fields(message);
  Examination examination;
  examination.problem = parse_problem(fields.text());
  examination.conditions = parse_conditions(fields.text());
  examination.seed = read_seed(fields);
  examination.has_perf_map = fields.count() != 0;
  while (!fields.empty()) {
    FilledMemory memory;
    memory.fill = parse_fill(fields.text());
    memory.descriptor = small(fields);
    examination.memory.push_back(memory);
  }
  return examination;
}

Message check_request(const Arm& arm) {
  return {.verb = "check", .fields = {arm.implementation, arm.choice}};
}

Arm read_check(const Message& message) {
  Fields fields(message);
  return read_arm(fields);
}

Message attempt_request(const AttemptRequest& request) {
  const Sampling& sampling = request.sampling;
  return {.verb = "attempt",
          .fields = {request.arm.implementation, request.arm.choice,
                     std::to_string(sampling.least_calls), std::to_string(sampling.samples),
                     number_text(sampling.sample_seconds), number_text(sampling.give_up_above)}};
}

AttemptRequest read_attempt_request(const Message& message) {
  Fields fields(message);
  AttemptRequest request;
  request.arm = read_arm(fields);
  request.sampling.least_calls = small(fields);
  request.sampling.samples = small(fields);
  request.sampling.sample_seconds = fields.number();
  request.sampling.give_up_above = fields.number();
  return request;
}

Message count_request(const CountRequest& request) {
  return {.verb = "count",
          .fields = {request.arm.implementation, request.arm.choice, number_text(request.seconds)}};
}

CountRequest read_count_request(const Message& message) {
  Fields fields(message);
  CountRequest request;
  request.arm = read_arm(fields);
  request.seconds = fields.number();
  return request;
}

Message rounds_request(const RoundsRequest& request) {
  Message message{.verb = "rounds", .fields = {}};
  add_share(message, request.share);
  for (const Arm& arm : request.arms) add_arm(message, arm);
  return message;
}

RoundsRequest read_rounds_request(const Message& message) {
  Fields fields(message);
  RoundsRequest request{.arms = {}, .share = read_share(fields)};
  while (!fields.empty()) request.arms.push_back(read_arm(fields));
  return request;
}

}  // namespace loopbrick
