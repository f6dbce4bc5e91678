#pragma once
// A JSON tree to text: keys in the order of the tree, integers as integers, doubles in the fewest digits that read back
// to the same bits (std::to_chars), whatever the locale.
#include <boost/json/value.hpp>
#include <string>

namespace tilevp::described {

// Two spaces a level, a final newline; a list of scalars that fits 100 columns stays on one line. Defect for a number
// that is not finite: JSON has none.
std::string pretty(const boost::json::value& value);

// One line without spaces.
std::string compact(const boost::json::value& value);

// The value as an error line names it: a scalar as itself (long text cut), "an object", "a list of 3".
std::string found(const boost::json::value& value);

// The shortest text that reads back to the same double: "0.1", "8", "-0.0", "1e+22"; whole numbers below 1e15 without
// an exponent.
std::string number_text(double value);

}  // namespace tilevp::described
