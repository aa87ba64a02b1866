#include "problems/refusal.h"

#include <string_view>

namespace loopbrick {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace

std::string to_string(const Refusal& refusal) {
  std::string text = refusal.sentence;
  replace_all(text, "{got}", std::to_string(refusal.got));
  replace_all(text, "{limit}", std::to_string(refusal.limit));
  replace_all(text, "{axis}", std::string(1, refusal.axis));
  return text;
}

}  // namespace loopbrick
