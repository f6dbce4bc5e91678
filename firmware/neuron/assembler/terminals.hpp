#pragma once
// Parts of the assembler's grammar that Spirit does not have: what must come next, numbers in a range, floats. Each
// throws a Mistake where its place holds something else; each hands what it read to the LineBuilder in the context.
#include <bit>
#include <boost/spirit/home/x3.hpp>
#include <cctype>
#include <charconv>
#include <string>

#include "tilevp/neuron/assembler/line_builder.hpp"

namespace tilevp::neuron::assembler {

namespace x3 = boost::spirit::x3;
using Iterator = const char*;

struct builder_tag;

template <class Context>
LineBuilder& builder(const Context& context) {
  return x3::get<builder_tag>(context);
}

// An integer of the expression grammar. A struct, so that Spirit does not take it for a container or a number.
struct Number {
  Wide value = 0;
};

inline const auto name_character = x3::char_("a-zA-Z0-9_");

// A whole word.
inline auto word(const char* text) { return x3::lexeme[x3::lit(text) >> !name_character]; }

// The subject, or a mistake.
template <class Subject>
struct Must : x3::unary_parser<Subject, Must<Subject>> {
  using base_type = x3::unary_parser<Subject, Must<Subject>>;
  static constexpr bool is_pass_through_unary = true;
  Must(const Subject& of, const char* what_must_come) : base_type(of), what(what_must_come) {}

  template <class Context, class RContext, class Attribute>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RContext& rcontext,
             Attribute& attribute) const {
    x3::skip_over(first, last, context);
    if (this->subject.parse(first, last, context, rcontext, attribute)) return true;
    throw Mistake{first, what};
  }
  const char* what;
};

template <class Subject>
auto must(const char* what, const Subject& subject) {
  return Must<typename x3::extension::as_parser<Subject>::value_type>(x3::as_parser(subject), what);
}

// A call with the place where the parser stands; reads nothing.
template <class Action>
struct Here : x3::parser<Here<Action>> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  explicit Here(Action call) : action(call) {}

  template <class Context, class RContext, class Attribute>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RContext&, Attribute&) const {
    x3::skip_over(first, last, context);
    action(builder(context), first);
    return true;
  }
  Action action;
};

// The subject, then a call with the place where it began.
template <class Subject, class Action>
struct From : x3::unary_parser<Subject, From<Subject, Action>> {
  using base_type = x3::unary_parser<Subject, From<Subject, Action>>;
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  From(const Subject& of, Action call) : base_type(of), action(call) {}

  template <class Context, class RContext, class Attribute>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RContext& rcontext, Attribute&) const {
    x3::skip_over(first, last, context);
    const Iterator begin = first;
    if (!this->subject.parse(first, last, context, rcontext, x3::unused)) return false;
    action(builder(context), begin);
    return true;
  }
  Action action;
};

template <class Subject, class Action>
auto from(const Subject& subject, Action action) {
  return From<typename x3::extension::as_parser<Subject>::value_type, Action>(x3::as_parser(subject), action);
}

// A number from `low` to `high`, given to action(builder, value). `Expression`: the rule that reads it.
template <class Expression, class Action>
struct Integer : x3::parser<Integer<Expression, Action>> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  Integer(const Expression& rule, const char* what_it_is, Wide lowest, Wide highest, Action call)
      : expression(rule), what(what_it_is), low(lowest), high(highest), action(call) {}

  template <class Context, class RContext, class Attribute>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RContext& rcontext, Attribute&) const {
    x3::skip_over(first, last, context);
    const Iterator begin = first;
    Number number;
    if (!expression.parse(first, last, context, rcontext, number)) throw Mistake{begin, what};
    if (number.value < low || number.value > high)
      throw Mistake{begin, std::string(what) + " from " + number_text(low) + " to " + number_text(high),
                    number_text(number.value)};
    action(builder(context), number.value);
    return true;
  }
  Expression expression;
  const char* what;
  Wide low;
  Wide high;
  Action action;
};

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
