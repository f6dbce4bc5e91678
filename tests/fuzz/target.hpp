#pragma once
// One input for the parser or decoder under test. Each target defines it once; libFuzzer calls it in the fuzz preset,
// driver.cpp in all others. It returns 0, and ends the process where a promise of the code is broken.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tilevp/base/errors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace tilevp::fuzz {

inline void require(bool holds, std::string_view promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %.*s\n", static_cast<int>(promise.size()), promise.data());
  std::abort();
}

// What is refused is refused with words. They may quote the input, line breaks too: the command prints those as blanks.
inline void require_words(const Error& error) { require(*error.what() != '\0', "an error says what is wrong"); }

// Runs `action`, which may refuse its input as the user's mistake and in no other way. False: it did.
template <class Action>
bool accepted(Action&& action) {
  try {
    action();
    return true;
  } catch (const UserError& error) {
    require_words(error);
    return false;
  }
}

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace tilevp::fuzz
