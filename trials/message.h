#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace loopbrick {

/// One line between the client and its worker.
///
/// Text  the verb, then the fields, separated by tabs; tabs, line ends and backslashes inside a
///       field are written as \t, \n and \\. encode and decode are inverses.
struct Message {
  std::string verb;
  std::vector<std::string> fields;

  friend bool operator==(const Message&, const Message&) = default;
};

std::string encode(const Message& message);  ///< without the line end
Message decode(std::string_view line);

/// Takes the fields of a message one after another.
///
/// Errors  throws std::runtime_error that shows the message when a field is missing or no number.
class Fields {
 public:
  explicit Fields(const Message& message) : message_(message) {}

  bool empty() const { return next_ == message_.fields.size(); }
  const std::string& text();
  std::int64_t count();
  double number();

 private:
  const Message& message_;
  std::size_t next_ = 0;
};

/// A number as a field that `Fields::number` reads back bit for bit.
std::string number_text(double value);

}  // namespace loopbrick
