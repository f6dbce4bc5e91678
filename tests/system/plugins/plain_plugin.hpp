#pragma once
// The head of a plug-in as plain data, written down a second time: every version must find these fields here.
#include <cstdint>

struct PlainPlugin {
  std::uint64_t magic;
  std::uint32_t abi;
  const char* version;
  const char* build;
  void (*add)(void*);
};

inline constexpr std::uint64_t plain_magic = 0x4755'4c50'454c'4954;
