#pragma once
// Described structs to a JSON tree, members in the order of their declaration, an empty optional as null.
#include <boost/json/value.hpp>
#include <string>

#include "tilevp/described/text.hpp"
#include "tilevp/described/traits.hpp"

namespace tilevp::described {

template <class T>
boost::json::value to_json(const T& value) {
  if constexpr (is_optional<T>) {
    return value ? to_json(*value) : boost::json::value(nullptr);
  } else if constexpr (DescribedStruct<T>) {
    boost::json::object object;
    for_each_member(value, [&](const char* name, const auto& member) { object.emplace(name, to_json(member)); });
    return object;
  } else if constexpr (DescribedEnum<T>) {
    return boost::json::value(enum_name(value));
  } else if constexpr (is_list<T>) {
    boost::json::array list;
    for (const auto& element : value) list.push_back(to_json(static_cast<typename T::value_type>(element)));
    return list;
  } else if constexpr (is_map<T>) {
    boost::json::object object;
    for (const auto& [key, element] : value) object.emplace(key, to_json(element));
    return object;
  } else if constexpr (is_tree<T>) {
    return value;
  } else if constexpr (std::floating_point<T>) {
    return boost::json::value(static_cast<double>(value));
  } else {
    static_assert(std::integral<T> || std::same_as<T, std::string>,
                  "a described member is of a type the writer does not know");
    return boost::json::value(value);
  }
}

// The text of to_json, as a person reads it.
template <class T>
std::string pretty_struct(const T& value) {
  return pretty(to_json(value));
}

}  // namespace tilevp::described
