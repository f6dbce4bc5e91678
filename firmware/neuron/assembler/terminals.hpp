#pragma once
// Floats in the grammar.
#include <bit>
#include <boost/spirit/home/x3.hpp>
#include <cctype>
#include <charconv>
#include <string>

#include "tilevp/assembly/terminals.hpp"
#include "tilevp/neuron/assembler/line_builder.hpp"

namespace tilevp::neuron::assembler {

namespace x3 = boost::spirit::x3;
using assembly::builder;
using assembly::builder_tag;
using assembly::from;
using assembly::Here;
using assembly::Integer;
using assembly::Iterator;
using assembly::must;
using assembly::name_character;
using assembly::named;
using assembly::Names;
using assembly::Number;
using assembly::word;

// A float: digits, inf, nan(0x7fc00000), or a number of the expression grammar. Given to action(builder, begin, value).
template <class Expression, class Action>
struct Float : x3::parser<Float<Expression, Action>> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  Float(const Expression& rule, Action call) : expression(rule), action(call) {}

  template <class Context, class RContext, class Attribute>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RContext& rcontext, Attribute&) const {
    x3::skip_over(first, last, context);
    const Iterator begin = first;
    float value = 0.0F;
    if (!nan(first, last, value) && !digits(first, last, value)) {
      Number number;
      if (!expression.parse(first, last, context, rcontext, number)) throw Mistake{begin, "a value"};
      value = static_cast<float>(number.value);
    }
    action(builder(context), begin, value);
    return true;
  }

  static bool nan(Iterator& first, const Iterator& last, float& value) {
    constexpr std::string_view head = "nan(0x";
    const std::string_view rest(first, static_cast<std::size_t>(last - first));
    if (!rest.starts_with(head)) return false;
    std::uint32_t bits = 0;
    const auto [end, error] = std::from_chars(first + head.size(), last, bits, 16);
    if (error != std::errc{} || end == last || *end != ')') return false;
    value = std::bit_cast<float>(bits);
    if (value == value) throw Mistake{first, "the bits of a NaN", std::string(first, end + 1)};
    first = end + 1;
    return true;
  }

  // Not `0x10` and no beginning of a name.
  static bool digits(Iterator& first, const Iterator& last, float& value) {
    const auto [end, error] = std::from_chars(first, last, value);
    if (error == std::errc::invalid_argument) return false;
    const bool word_follows = end != last && (std::isalnum(static_cast<unsigned char>(*end)) != 0 || *end == '_');
    if (word_follows || value != value) return false;
    if (error == std::errc::result_out_of_range)
      throw Mistake{first, "a value that fp32 holds", std::string(first, end)};
    first = end;
    return true;
  }
  Expression expression;
  Action action;
};

}  // namespace tilevp::neuron::assembler
