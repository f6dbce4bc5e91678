#pragma once
// Text from outside, made fit to be shown: a terminal must not obey it, and it must not end a line or a file's
// encoding.
#include <string>
#include <string_view>

namespace tilevp {

// `text` as UTF-8: bytes that are no part of a valid sequence become `\xff`.
std::string valid_utf8(std::string_view text);

// The same on one line: line feeds become spaces, other control characters (C0, DEL, C1) `\x1b`.
std::string printable(std::string_view text);

}  // namespace tilevp
