#pragma once
// Parts of a grammar that Spirit does not have: what must come next, names, numbers in a range. Each throws a Mistake
// where its place holds something else; each hands what it read to the builder in the context.
#include <boost/spirit/home/x3.hpp>
#include <string>
#include <utility>

#include "tilevp/assembly/mistake.hpp"

namespace tilevp::assembly {

namespace x3 = boost::spirit::x3;
using Iterator = const char*;

struct builder_tag;

// What the grammar's actions call; of the assembler's own type.
template <class Context>
auto& builder(const Context& context) {
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

template <class T>
struct Names : x3::symbols<T> {
  Names(std::initializer_list<std::pair<const char*, T>> names) {
    for (const auto& [name, value] : names) this->add(name, value);
  }
};
// The value of a whole word among `names`, given to action(builder, value).
template <class T, class Action>
auto named(const Names<T>& names, Action action) {
  return x3::lexeme[names >> !name_character][([action](auto& c) { action(builder(c), x3::_attr(c)); })];
}

}  // namespace tilevp::assembly
