#include "tilevp/pto/matmul/options.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/algorithm/string/predicate.hpp>
#include <charconv>
#include <cmath>
#include <locale>
#include <optional>

#include "tilevp/base/errors.hpp"
#include "tilevp/described/nearest.hpp"
#include "tilevp/described/text.hpp"
#include "tilevp/numeric/rounding.hpp"
#include "tilevp/pto/element.hpp"
#include "tilevp/runtime/npy.hpp"
#include "tilevp/runtime/value_text.hpp"

namespace tilevp::pto::matmul {
namespace {

using cube::ModeRounding;
using cube::offset_shift;
using cube::Parameter;
using cube::pes;
using cube::prequant_modes;
using cube::prequant_name;
using cube::PreQuantMode;
using cube::rounding_mode_name;
using cube::scale_shift;
using cube::shift_shift;

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

// The numbers of an option, and where one of them stands.
struct Given {
  std::string option{};              // with dashes
  std::string file{};                // empty: one number, of the command line
  std::vector<std::size_t> shape{};  // of the file
  std::vector<double> values{};

  [[noreturn]] void refuse(std::size_t i, const std::string& expected) const {
    const std::string place =
        file.empty() ? "" : file + ": element " + runtime::index_text(runtime::index_of(shape, i)) + ": ";
    throw UserError(option, place + "expected " + expected + ", found " + runtime::value_text(values[i]));
  }
};

// One number, or where `columns` is not 0 as many: the same for all, or those of a file.
Given numbers(const runtime::OptionValues& options, const std::string& name, std::size_t columns) {
  const std::string text = options.text(name);
  if (const auto value = number_in(text))
    return {.option = "--" + name, .values = std::vector<double>(std::max<std::size_t>(columns, 1), *value)};
  if (columns == 0) throw UserError("--" + name, "expected a number, found '" + text + "'");
  const runtime::Tensor tensor = runtime::read_npy(text);
  if (tensor.size() != columns || (tensor.shape.size() != 1 && !(tensor.shape.size() == 2 && tensor.shape[0] == 1)))
    throw UserError("--" + name, text + ": expected " + std::to_string(columns) +
                                     " numbers, one a column, found shape " + runtime::shape_text(tensor.shape));
  Given given{.option = "--" + name, .file = text, .shape = tensor.shape, .values = std::vector<double>(columns)};
  for (std::size_t i = 0; i < columns; ++i) given.values[i] = tensor.value(i);
  return given;
}

// Number `i` as the nearest FP19: the upper 19 bits of an fp32. A scale has no code for 0, a slope has.
std::uint64_t fp19(const Given& given, std::size_t i, bool zero_allowed, std::vector<std::string>& warnings) {
  const double value = given.values[i];
  const float held = numeric::to_tf32(static_cast<float>(value));
  const std::uint64_t code = std::bit_cast<std::uint32_t>(held) >> 13;
  const bool zero = held == 0 && !std::signbit(value);
  if (!(zero && zero_allowed) && !(std::isnormal(held) && held > 0))
    given.refuse(
        i, "a positive normal number of FP19, 1.1755e-38 to 3.4011e+38" + std::string(zero_allowed ? ", or 0" : ""));
  const bool told = !warnings.empty() && warnings.back().starts_with(given.option + ": ");
  if (static_cast<double>(held) != value && !told)
    warnings.push_back(given.option + ": " + described::number_text(value) + " rounded to " +
                       described::number_text(static_cast<double>(held)));
  return code;
}

// Any of the machine's modes; where none is meant, those of sums in `accumulator` are named.
PreQuantMode mode_of(const std::string& text, cube::DataType accumulator) {
  std::vector<std::string> names, fitting;
  for (const PreQuantMode& mode : prequant_modes) {
    const std::string name(prequant_name(mode.code));
    if (boost::algorithm::iequals(text, name, std::locale::classic()) || text == std::to_string(mode.code)) return mode;
    names.push_back(name);
    if (accepts(mode, accumulator)) fitting.push_back(name);
  }
  const std::string hint = described::nearest_hint(text, names);
  throw UserError("--prequant", "there is no mode '" + text + "'" +
                                    (!hint.empty() ? hint
                                                   : "; of sums in " + std::string(cube::name(accumulator)) +
                                                         " there are " + described::join(fitting)));
}

void check_mode(const Request& request) {
  const std::string name(prequant_name(request.prequant.code));
  if (!accepts(request.prequant, request.accumulator()))
    throw UserError("--prequant", name + " goes with sums in " + std::string(cube::name(request.prequant.accumulator)) +
                                      ", those of " + std::string(cube::name(request.a_type)) + " are in " +
                                      std::string(cube::name(request.accumulator())));
}

void require_only_if(const runtime::OptionValues& options, const std::string& option, bool wanted,
                     const std::string& with) {
  if (options.has(option) && !wanted) throw UserError("--" + option, "goes with " + with);
}

void check_parameters(const runtime::OptionValues& options, const Request& request) {
  const PreQuantMode& mode = request.prequant;
  const std::string name(prequant_name(mode.code));
  const bool has_word = mode.parameter != Parameter::none;
  require_only_if(options, "scale", has_word && !mode.shift, "a mode that has a scale");
  require_only_if(options, "shift", mode.shift, "a mode that shifts");
  require_only_if(options, "offset", mode.offset_bits != 0, "a mode that has an offset");
  const char* const needed = mode.shift ? "shift" : "scale";
  if (has_word && !options.has(needed))
    throw UserError("--" + std::string(needed), "is missing: the mode " + name + " needs it");
  if (mode.shift && request.relu != 0)
    throw UserError("--relu", name + " only shifts: the core takes no account of ReLU in it; expected none, found " +
                                  options.text("relu"));
  require_only_if(options, "slope", request.relu >= 2, "--relu leaky or prelu");
  if (request.relu >= 2 && !options.has("slope"))
    throw UserError("--slope", "is missing: --relu " + options.text("relu") + " needs it");
}

std::uint64_t shift_word(const Given& given, std::size_t i) {
  const double shift = given.values[i];
  if (!(shift >= 1 && shift <= 16) || std::trunc(shift) != shift) given.refuse(i, "a whole number from 1 to 16");
  return static_cast<std::uint64_t>(shift - 1) << shift_shift;
}

std::uint64_t offset_bits(const PreQuantMode& mode, const runtime::OptionValues& options) {
  if (!options.has("offset")) return 0;
  const std::int64_t half = std::int64_t{1} << (mode.offset_bits - 1);
  const auto offset = static_cast<std::uint64_t>(options.integer("offset", -half, half - 1));
  return (offset & static_cast<std::uint64_t>(2 * half - 1)) << offset_shift;
}

std::vector<std::uint64_t> quant_words(const Request& request, const runtime::OptionValues& options,
                                       std::vector<std::string>& warnings) {
  const PreQuantMode& mode = request.prequant;
  if (mode.parameter == Parameter::none) return {};
  const std::uint64_t offset = offset_bits(mode, options);
  std::vector<std::uint64_t> words;
  const Given given = numbers(options, mode.shift ? "shift" : "scale", request.quant_is_vector() ? request.n : 0);
  for (std::size_t i = 0; i < given.values.size(); ++i)
    words.push_back(mode.shift ? shift_word(given, i) : fp19(given, i, false, warnings) << scale_shift | offset);
  return words;
}

std::uint8_t read_rounding(const runtime::OptionValues& options) {
  const std::string text = options.text("rounding");
  std::string known;
  for (unsigned code = 0; code < 8; ++code) {
    if (boost::algorithm::iequals(rounding_mode_name(code), text, std::locale::classic()))
      return static_cast<std::uint8_t>(code);
    known += (known.empty() ? "" : ", ") + std::string(rounding_mode_name(code));
  }
  throw UserError("--rounding", "expected one of " + known + ", found '" + text + "'");
}

std::uint8_t read_relu(const runtime::OptionValues& options) {
  const std::string text = options.text("relu");
  constexpr std::array names{"none", "relu", "leaky", "prelu"};  // by code
  for (std::size_t code = 0; code < names.size(); ++code)
    if (boost::algorithm::iequals(text, names[code], std::locale::classic())) return static_cast<std::uint8_t>(code);
  throw UserError("--relu", "expected none, relu, leaky or prelu, found '" + text + "'");
}

}  // namespace

std::vector<runtime::OptionDescription> option_descriptions(bool gemv) {
  return {
      {"input", "FILE", "", gemv ? "vector A (.npy), axes K or 1, K" : "matrix A (.npy), axes M, K"},
      {"weights", "FILE", "", "matrix B (.npy), axes K, N"},
      {"output", "FILE", "", gemv ? "D (.npy), axes 1, N" : "D (.npy), axes M, N"},
      {"shape", gemv ? "K,N" : "M,K,N", "", "random operands of this size instead of files"},
      {"random", "integers|normal", "integers", "values: whole numbers from -4 to 4, or normal"},
      {"dtype", "TYPE", "fp16", "element type of A: fp32 tf32 hf32 fp16 bf16 hif8 e4m3 e5m2 ... int8 s16 u8 s4x2 ..."},
      {"weights-dtype", "TYPE", "", "element type of B, of the same class; that of A where not given"},
      {"bias", "FILE|random", "", "a row added to each row of D (.npy, axes N or 1, N), in the type of the sums"},
      {"prequant", "MODE", "None", "conversion of the sums: a PreQuantMode by name or number"},
      {"scale", "S|FILE", "",
       "of the mode, with 11 bits of significand; vector modes: one a column (.npy) or one for all"},
      {"offset", "N", "", "of the mode, added after rounding"},
      {"shift", "BITS|FILE", "", "of the modes that shift, 1 to 16"},
      {"relu", "none|relu|leaky|prelu", "none", "what becomes of negative sums before conversion"},
      {"slope", "S|FILE", "", "of leaky, and of prelu one a column: takes the scale's place"},
      {"rounding", "MODE", "Default", "of a mode whose rounding is programmable: RNE RTZ RTM RTP RNA RTO RHB"},
      {"saturate", "", "", "conversions clamp instead of wrapping or overflowing"},
      {"pes", "N", "4", "PEs that take part: blocks of columns are dealt to them in turn"}};
}

Request read_request(bool gemv, const runtime::OptionValues& options) {
  Request request{.gemv = gemv};
  request.a_type = parse_type("--dtype", options.text("dtype"));
  const std::string weights = options.text("weights-dtype");
  request.b_type = weights.empty() ? request.a_type : parse_type("--weights-dtype", weights);
  if (numeric_class(request.a_type) != numeric_class(request.b_type))
    throw UserError("--weights-dtype", std::string(name(request.b_type)) + " does not go with " +
                                           std::string(name(request.a_type)) +
                                           ": both floating, both signed or both unsigned");
  request.bias = options.has("bias");
  request.pes = static_cast<unsigned>(options.integer("pes", 1, pes));
  request.prequant = mode_of(options.text("prequant"), request.accumulator());
  check_mode(request);
  request.relu = read_relu(options);
  check_parameters(options, request);
  request.rounding = read_rounding(options);
  if (request.rounding != 0 && request.prequant.rounding != ModeRounding::programmable)
    throw UserError("--rounding", "the rounding of " + std::string(prequant_name(request.prequant.code)) + " is fixed");
  request.saturate = options.has("saturate");
  if (request.saturate && !request.prequant.may_saturate())
    throw UserError("--saturate", std::string(prequant_name(request.prequant.code)) + " does not saturate");
  return request;
}

void read_words(Request& request, const runtime::OptionValues& options, std::vector<std::string>& warnings) {
  request.quant_words = quant_words(request, options, warnings);
  if (request.relu < 2) return;
  const Given given = numbers(options, "slope", request.slope_is_vector() ? request.n : 0);
  for (std::size_t i = 0; i < given.values.size(); ++i) request.slope_words.push_back(fp19(given, i, true, warnings));
}

}  // namespace tilevp::pto::matmul
