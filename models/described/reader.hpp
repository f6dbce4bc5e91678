#pragma once
// JSON tree to described structs (BOOST_DESCRIBE_STRUCT, BOOST_DESCRIBE_ENUM). A key that is missing leaves the
// member's default; a key that is unknown, or a value of another type or out of range, is a KeyError with the path and
// what was found: `dram.ports[1].name: expected a string, found 3`.
#include <algorithm>
#include <boost/json/value.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "tilevp/described/nearest.hpp"
#include "tilevp/described/path.hpp"
#include "tilevp/described/text.hpp"
#include "tilevp/described/traits.hpp"

namespace tilevp::described {

template <class T>
void read(T& out, const boost::json::value& value, const std::string& path);

// Calls `void check(const std::string& path) const` of every struct in `object` that has one, inner ones first. A
// `check` throws KeyError(path_to_key(path, "rate"), "expected a positive number, found -3").
template <class T>
void check_all(const T& object, const std::string& path);

namespace detail {

template <DescribedStruct T>
void read_struct(T& out, const boost::json::value& value, const std::string& path) {
  if (!value.is_object()) throw KeyError(path, "expected an object, found " + found(value));
  const auto names = member_names<T>();
  for (const auto& [key, member] : value.get_object()) {
    const std::string name(key.data(), key.size());
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw KeyError(path_to_key(path, name),
                     "unknown key" + nearest_hint(name, names, path.empty() ? "" : path + "."));
  }
  for_each_member(out, [&](const char* name, auto& member) {
    if (const auto* found_value = value.get_object().if_contains(name))
      read(member, *found_value, path_to_key(path, name));
  });
}

template <DescribedEnum T>
void read_enum(T& out, const boost::json::value& value, const std::string& path) {
  const auto names = enumerator_names<T>();
  const auto named = value.is_string() ? enum_value<T>(std::string(value.get_string())) : std::optional<T>();
  if (!named) throw KeyError(path, "expected one of " + join(names) + ", found " + found(value));
  out = *named;
}

template <std::integral T>
void read_integer(T& out, const boost::json::value& value, const std::string& path) {
  boost::json::error_code error;
  const T number = value.is_number() ? value.to_number<T>(error) : T{};
  if (!value.is_number() || error)
    throw KeyError(path, "expected an integer from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                             std::to_string(std::numeric_limits<T>::max()) +
                             (path.ends_with("_hz") ? " in hertz, for instance 1400000000 or 1.4e9" : "") + ", found " +
                             found(value));
  out = number;
}

template <std::floating_point T>
void read_floating(T& out, const boost::json::value& value, const std::string& path) {
  if (!value.is_number()) throw KeyError(path, "expected a number, found " + found(value));
  const double wide = value.to_number<double>();
  if (!std::isfinite(wide) || std::abs(wide) > static_cast<double>(std::numeric_limits<T>::max()))
    throw KeyError(path, "expected a finite number, found one out of range");
  out = static_cast<T>(wide);
}

template <class T>
void read_list(std::vector<T>& out, const boost::json::value& value, const std::string& path) {
  if (!value.is_array()) throw KeyError(path, "expected a list, found " + found(value));
  out.clear();
  for (const auto& element : value.get_array()) {
    T read_element{};
    read(read_element, element, path_to_index(path, out.size()));
    out.push_back(std::move(read_element));
  }
}

template <class T>
void read_map(std::map<std::string, T>& out, const boost::json::value& value, const std::string& path) {
  if (!value.is_object()) throw KeyError(path, "expected an object, found " + found(value));
  out.clear();
  for (const auto& [key, element] : value.get_object())
    read(out[std::string(key.data(), key.size())], element,
         path_to_key(path, std::string_view(key.data(), key.size())));
}

}  // namespace detail

template <class T>
void read(T& out, const boost::json::value& value, const std::string& path) {
  if constexpr (is_optional<T>) {
    if (value.is_null()) {
      out.reset();
    } else {
      typename T::value_type inner{};
      read(inner, value, path);
      out = std::move(inner);
    }
  } else if constexpr (DescribedStruct<T>) {
    detail::read_struct(out, value, path);
  } else if constexpr (DescribedEnum<T>) {
    detail::read_enum(out, value, path);
  } else if constexpr (std::same_as<T, bool>) {
    const bool is_word = value.is_string() && (value.get_string() == "on" || value.get_string() == "off");
    if (!is_word && !value.is_bool()) throw KeyError(path, "expected true or false, found " + found(value));
    out = is_word ? value.get_string() == "on" : value.get_bool();
  } else if constexpr (std::integral<T>) {
    detail::read_integer(out, value, path);
  } else if constexpr (std::floating_point<T>) {
    detail::read_floating(out, value, path);
  } else if constexpr (std::same_as<T, std::string>) {
    if (!value.is_string()) throw KeyError(path, "expected a string, found " + found(value));
    out = std::string(value.get_string());
  } else if constexpr (is_tree<T>) {
    if (!value.is_object()) throw KeyError(path, "expected an object, found " + found(value));
    out = value.get_object();
  } else if constexpr (is_list<T>) {
    detail::read_list(out, value, path);
  } else {
    static_assert(is_map<T>, "a described member is of a type the reader does not know");
    detail::read_map(out, value, path);
  }
}

template <class T>
void check_all(const T& object, const std::string& path) {
  if constexpr (is_optional<T>) {
    if (object) check_all(*object, path);
  } else if constexpr (is_list<T>) {
    if constexpr (std::is_class_v<typename T::value_type>)
      for (std::size_t i = 0; i < object.size(); ++i) check_all(object[i], path_to_index(path, i));
  } else if constexpr (is_map<T>) {
    for (const auto& [key, element] : object) check_all(element, path_to_key(path, key));
  } else if constexpr (DescribedStruct<T>) {
    for_each_member(object, [&](const char* name, const auto& member) { check_all(member, path_to_key(path, name)); });
    if constexpr (requires { object.check(path); }) object.check(path);
  }
}

}  // namespace tilevp::described
