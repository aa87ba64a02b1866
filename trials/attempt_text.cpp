#include "trials/attempt_text.h"

namespace loopbrick {
namespace {

void append_sample(const Sample& sample, Message& message) {
  message.fields.push_back(number_text(sample.start));
  message.fields.push_back(number_text(sample.seconds));
  for (const int value : {sample.calls, sample.round, sample.process, sample.order}) {
    message.fields.push_back(std::to_string(value));
  }
}

Sample read_sample(Fields& fields) {
  Sample sample;
  sample.start = fields.number();
  sample.seconds = fields.number();
  for (int* const value : {&sample.calls, &sample.round, &sample.process, &sample.order}) {
    *value = static_cast<int>(fields.count());
  }
  return sample;
}

}  // namespace

Message attempt_message(const Attempt& attempt) {
  Message message{
      .verb = "attempt",
      .fields = {attempt.outcome, attempt.reason, attempt.ran, attempt.included, attempt.flag,
                 attempt.version, attempt.facts, number_text(attempt.executed_flops),
                 std::to_string(attempt.workspace_bytes), number_text(attempt.prepare_seconds)}};
  for (const Sample& sample : attempt.samples) append_sample(sample, message);
  return message;
}

Attempt read_attempt(const Message& message) {
  Fields fields(message);
  Attempt attempt;
  for (std::string* const text :
       {&attempt.outcome, &attempt.reason, &attempt.ran, &attempt.included, &attempt.flag,
        &attempt.version, &attempt.facts}) {
    *text = fields.text();
  }
  attempt.executed_flops = fields.number();
  attempt.workspace_bytes = fields.count();
  attempt.prepare_seconds = fields.number();
  while (!fields.empty()) attempt.samples.push_back(read_sample(fields));
  return attempt;
}

Message readings_message(const std::vector<Reading>& readings) {
  Message message{.verb = "readings", .fields = {}};
  for (const Reading& reading : readings) {
    message.fields.push_back(reading.name);
    message.fields.push_back(reading.reason);
    message.fields.push_back(number_text(reading.count.value_or(0.0)));
  }
  return message;
}

std::vector<Reading> read_readings(const Message& message) {
  std::vector<Reading> readings;
  for (Fields fields(message); !fields.empty();) {
    Reading reading;
    reading.name = fields.text();
    reading.reason = fields.text();
    const double count = fields.number();
    if (reading.reason.empty()) reading.count = count;
    readings.push_back(reading);
  }
  return readings;
}

}  // namespace loopbrick
