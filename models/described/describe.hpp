#pragma once
// The reference of a described struct's options: each path, its type and its default.
#include <string>
#include <vector>

#include "tilevp/described/reader.hpp"
#include "tilevp/described/writer.hpp"

namespace tilevp::described {

struct Field {
  std::string path;           // "dram.ports[].rate"; "NAME" stands for a map's key: "clocks.NAME.hz"
  std::string type;           // "number", "integer 0..255", "one of a, b", "list of string"
  std::string default_value;  // as JSON
};

template <class T>
std::string type_text() {
  if constexpr (is_optional<T>) {
    return "optional " + type_text<typename T::value_type>();
  } else if constexpr (DescribedStruct<T> || is_tree<T>) {
    return "object";
  } else if constexpr (DescribedEnum<T>) {
    return "one of " + join(enumerator_names<T>());
  } else if constexpr (std::same_as<T, bool>) {
    return "true or false";
  } else if constexpr (std::integral<T> && sizeof(T) < 8) {
    return "integer " + std::to_string(std::numeric_limits<T>::min()) + ".." +
           std::to_string(std::numeric_limits<T>::max());
  } else if constexpr (std::unsigned_integral<T>) {
    return "integer from 0";
  } else if constexpr (std::integral<T>) {
    return "integer";
  } else if constexpr (std::floating_point<T>) {
    return "number";
  } else if constexpr (std::same_as<T, std::string>) {
    return "string";
  } else if constexpr (is_list<T>) {
    return "list of " + type_text<typename T::value_type>();
  } else {
    static_assert(is_map<T>, "a described member is of a type that has no name");
    return "map of name to " + type_text<typename T::mapped_type>();
  }
}

namespace detail {

template <class T>
void describe_into(std::vector<Field>& fields, const T& value, const std::string& path) {
  if constexpr (DescribedStruct<T>) {
    // A struct that holds itself would go on for ever.
    if (std::count_if(path.begin(), path.end(), [](char c) { return c == '.' || c == '['; }) > 16) return;
    for_each_member(
        value, [&](const char* name, const auto& member) { describe_into(fields, member, path_to_key(path, name)); });
  } else {
    fields.push_back({path, type_text<T>(), compact(to_json(value))});
    if constexpr (is_optional<T>) {
      if constexpr (DescribedStruct<typename T::value_type>)
        describe_into(fields, value.value_or(typename T::value_type{}), path);
    } else if constexpr (is_list<T>) {
      if constexpr (DescribedStruct<typename T::value_type>)
        describe_into(fields, typename T::value_type{}, path + "[]");
    } else if constexpr (is_map<T>) {
      if constexpr (DescribedStruct<typename T::mapped_type>)
        describe_into(fields, typename T::mapped_type{}, path_to_key(path, "NAME"));
    }
  }
}

}  // namespace detail

// All options below a T, in the order of the declarations.
template <class T>
std::vector<Field> describe_fields() {
  std::vector<Field> fields;
  detail::describe_into(fields, T{}, "");
  return fields;
}

}  // namespace tilevp::described
