#pragma once
// The kinds of types a description may be made of, and how each is named to the user.
#include <array>
#include <boost/describe/enumerators.hpp>
#include <boost/describe/members.hpp>
#include <boost/json/object.hpp>
#include <boost/mp11/algorithm.hpp>
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tilevp::described {

template <class T>
concept DescribedStruct = std::is_class_v<T> && boost::describe::has_describe_members<T>::value;

template <class T>
concept DescribedEnum = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;
template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = true;
template <class T>
constexpr bool is_map = false;
template <class T>
constexpr bool is_map<std::map<std::string, T>> = true;
// Keys that the struct's own module does not know: whoever does reads them with a struct of its own.
template <class T>
constexpr bool is_tree = std::same_as<T, boost::json::object>;

// All public members, those of bases first.
template <DescribedStruct T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;

// Calls visit(name, member reference) for each member of `object` in the order of the declaration.
template <class T, class Visit>
void for_each_member(T& object, Visit&& visit) {
  boost::mp11::mp_for_each<Members<std::remove_const_t<T>>>(
      [&](auto member) { visit(member.name, object.*member.pointer); });
}

template <DescribedStruct T>
std::vector<std::string> member_names() {
  std::vector<std::string> names;
  boost::mp11::mp_for_each<Members<T>>([&](auto member) { names.emplace_back(member.name); });
  return names;
}

template <DescribedEnum T>
std::vector<std::string> enumerator_names() {
  std::vector<std::string> names;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
      [&](auto enumerator) { names.emplace_back(enumerator.name); });
  return names;
}

// The enumerator's name; its number where it has none.
template <DescribedEnum T>
std::string enum_name(T value) {
  std::string name;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
    if (enumerator.value == value) name = enumerator.name;
  });
  return name.empty() ? std::to_string(static_cast<long long>(value)) : name;
}

template <DescribedEnum T>
std::optional<T> enum_value(const std::string& name) {
  std::optional<T> value;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto enumerator) {
    if (name == enumerator.name) value = enumerator.value;
  });
  return value;
}

}  // namespace tilevp::described
