#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "tilevp/base/errors.hpp"
#include "tilevp/platform/schema.hpp"

namespace tilevp::platform {
namespace {

using testing::HasSubstr;

std::string error_of(const char* tree, const char* schema) {
  try {
    validate(boost::json::parse(tree), boost::json::parse(schema), "x.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Schema, Types) {
  EXPECT_EQ(error_of("3", R"({"type": "integer"})"), "no error");
  EXPECT_THAT(error_of("3.5", R"({"type": "integer"})"), HasSubstr("x.json: expected \"integer\", found 3.5"));
  EXPECT_EQ(error_of("null", R"({"type": ["object", "null"]})"), "no error");
  EXPECT_THAT(error_of("[]", R"({"type": ["object", "null"]})"), HasSubstr("expected [\"object\",\"null\"]"));
}

TEST(Schema, ValuesAndBounds) {
  EXPECT_THAT(error_of("\"c\"", R"({"enum": ["a", "b"]})"), HasSubstr("expected one of [\"a\",\"b\"], found"));
  EXPECT_THAT(error_of("2", R"({"const": 1})"), HasSubstr("expected 1, found 2"));
  EXPECT_THAT(error_of("-1", R"({"minimum": 0})"), HasSubstr("expected at least 0, found -1"));
}

TEST(Schema, ObjectsAndLists) {
  const char* schema = R"({"properties": {"list": {"items": {"$ref": "#/$defs/n"}}}, "required": ["list"],
                           "additionalProperties": false, "$defs": {"n": {"type": "number"}}})";
  EXPECT_EQ(error_of(R"({"list": [1, 2.5]})", schema), "no error");
  EXPECT_THAT(error_of(R"({"list": [1, "x"]})", schema), HasSubstr("x.json: list[1]: expected \"number\", found"));
  EXPECT_THAT(error_of("{}", schema), HasSubstr("lacks the key 'list'"));
  EXPECT_THAT(error_of(R"({"list": [], "lst": 1})", schema), HasSubstr("lst: unknown key; nearest is 'list'"));
  EXPECT_THAT(error_of(R"({"a": "x"})", R"({"additionalProperties": {"type": "integer"}})"),
              HasSubstr("x.json: a: expected"));
}

TEST(Schema, KeywordsItDoesNotKnowAreDefects) {
  EXPECT_THAT(error_of("1", R"({"pattern": "x"})"), HasSubstr("unknown keyword"));
}

}  // namespace
}  // namespace tilevp::platform
