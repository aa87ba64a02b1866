#pragma once
#include "trials/bench.h"
#include "trials/message.h"

namespace loopbrick {

/// An Attempt as a message of verb "attempt", and back: read_attempt(attempt_message(a)) equals a.
Message attempt_message(const Attempt& attempt);
Attempt read_attempt(const Message& message);

/// The same of readings, as a message of verb "readings".
Message readings_message(const std::vector<Reading>& readings);
std::vector<Reading> read_readings(const Message& message);

}  // namespace loopbrick
