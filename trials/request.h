#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trials/examiner.h"
#include "trials/message.h"

namespace loopbrick {

/// What the client asks of a worker, as messages, and back: each read_x inverts its x_request.
void add_arm(Message& message, const Arm& arm);
Arm read_arm(Fields& fields);
void add_share(Message& message, const RoundShare& share);
RoundShare read_share(Fields& fields);
std::string seed_text(std::uint64_t seed);
std::uint64_t read_seed(Fields& fields);

Message setup_request(const Examination& examination);
Examination read_setup(const Message& message);

Message check_request(const Arm& arm);
Arm read_check(const Message& message);

struct AttemptRequest {
  Arm arm;
  Sampling sampling;
};
Message attempt_request(const AttemptRequest& request);
AttemptRequest read_attempt_request(const Message& message);

struct CountRequest {
  Arm arm;
  double seconds = 0.0;
};
Message count_request(const CountRequest& request);
CountRequest read_count_request(const Message& message);

struct RoundsRequest {
  std::vector<Arm> arms;
  RoundShare share;
};
Message rounds_request(const RoundsRequest& request);
RoundsRequest read_rounds_request(const Message& message);

}  // namespace loopbrick
