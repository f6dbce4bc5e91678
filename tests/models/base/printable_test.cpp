#include "tilevp/base/printable.hpp"

#include <gtest/gtest.h>

#include "tilevp/base/number_text.hpp"

namespace tilevp {
namespace {

using namespace std::string_literals;

TEST(Printable, KeepsWhatIsUtf8) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 \\x41";  // e acute, euro, a face
  EXPECT_EQ(valid_utf8(text), text);
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), "");
}

// What the Unicode standard gives as ill-formed: lone and missing continuations, overlong forms, surrogates, beyond
// U+10FFFF.
TEST(Printable, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(valid_utf8("a\xff"), "a\\xff");
  EXPECT_EQ(valid_utf8("\x80z"), "\\x80z");
  EXPECT_EQ(valid_utf8("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(valid_utf8("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(valid_utf8("\xe0\x9f\xbf"), "\\xe0\\x9f\\xbf");
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(valid_utf8("\xf0\x9f\x98"
                       "A"),
            "\\xf0\\x9f\\x98"
            "A");
}

TEST(Printable, IsOneLineThatATerminalDoesNotObey) {
  EXPECT_EQ(printable("a\0b\nc\x1b[31m\x7f"s), "a\\x00b c\\x1b[31m\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "1m"),
            "\\x9b1m");  // U+009B begins a control sequence too
  EXPECT_EQ(valid_utf8("a\0b\n"s), "a\0b\n"s);
}

TEST(NumberText, IsAsShortAsAPersonWritesIt) {
  EXPECT_EQ(number_text(148.3), "148.3");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(number_text(-0.5), "-0.5");
}

}  // namespace
}  // namespace tilevp
