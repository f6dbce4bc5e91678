#include "tilevp/pto/matmul/options.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "tilevp/base/errors.hpp"
#include "tilevp/described/nearest.hpp"
#include "tilevp/described/text.hpp"
#include "tilevp/numeric/rounding.hpp"
#include "tilevp/pto/element.hpp"
#include "tilevp/runtime/npy.hpp"

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

// One number, or where `columns` is not 0 as many: the same for all, or those of a file.
std::vector<double> numbers(const runtime::OptionValues& options, const std::string& name, std::size_t columns) {
  const std::string text = options.text(name);
  if (const auto value = number_in(text)) return std::vector<double>(std::max<std::size_t>(columns, 1), *value);
  if (columns == 0) throw UserError("--" + name, "expected a number, found '" + text + "'");
  const runtime::Tensor tensor = runtime::read_npy(text);
  if (tensor.size() != columns || (tensor.shape.size() != 1 && !(tensor.shape.size() == 2 && tensor.shape[0] == 1)))
    throw UserError("--" + name, text + ": expected " + std::to_string(columns) +
                                     " numbers, one a column, found shape " + runtime::shape_text(tensor.shape));
  std::vector<double> values(columns);
  for (std::size_t i = 0; i < columns; ++i) values[i] = tensor.value(i);
  return values;
}

// The nearest FP19: the upper 19 bits of an fp32. `low`: 0 where zero may stand, else the smallest normal number.
std::uint64_t fp19(const std::string& option, double value, bool zero_allowed, std::vector<std::string>& warnings) {
  const float held = numeric::to_tf32(static_cast<float>(value));
  const std::uint64_t code = std::bit_cast<std::uint32_t>(held) >> 13;
  const bool zero = held == 0 && !std::signbit(value);
  if (!(zero && zero_allowed) && !(std::isnormal(held) && held > 0))
    throw UserError(option, "expected a positive normal number" + std::string(zero_allowed ? " or 0" : "") +
                                ", found " + described::number_text(value));
  const bool told = !warnings.empty() && warnings.back().starts_with(option + ": ");
  if (static_cast<double>(held) != value && !told)
    warnings.push_back(option + ": " + described::number_text(value) + " rounded to " +
                       described::number_text(static_cast<double>(held)));
  return code;
}

PreQuantMode mode_of(const std::string& text) {
  std::vector<std::string> names;
  for (const PreQuantMode& mode : prequant_modes) {
    const std::string name(prequant_name(mode.code));
    if (text == name || text == std::to_string(mode.code)) return mode;
    names.push_back(name);
  }
  throw UserError("--prequant", "there is no mode '" + text + "'" + described::nearest_hint(text, names));
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
  require_only_if(options, "slope", request.relu >= 2, "--relu leaky or prelu");
  if (request.relu >= 2 && !options.has("slope"))
    throw UserError("--slope", "is missing: --relu " + options.text("relu") + " needs it");
}

std::uint64_t shift_word(double shift) {
  if (!(shift >= 1 && shift <= 16) || std::trunc(shift) != shift)
    throw UserError("--shift", "expected a whole number from 1 to 16, found " + described::number_text(shift));
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
  for (const double value : numbers(options, mode.shift ? "shift" : "scale", request.quant_is_vector() ? request.n : 0))
    words.push_back(mode.shift ? shift_word(value) : fp19("--scale", value, false, warnings) << scale_shift | offset);
  return words;
}

std::uint8_t read_rounding(const runtime::OptionValues& options) {
  const std::string text = options.text("rounding");
  std::string known;
  for (unsigned code = 0; code < 8; ++code) {
    if (rounding_mode_name(code) == text) return static_cast<std::uint8_t>(code);
    known += (known.empty() ? "" : ", ") + std::string(rounding_mode_name(code));
  }
  throw UserError("--rounding", "expected one of " + known + ", found '" + text + "'");
}

std::uint8_t read_relu(const runtime::OptionValues& options) {
  const std::string text = options.text("relu");
  if (text == "none") return 0;
  if (text == "relu") return 1;
  if (text == "leaky") return 2;
  if (text == "prelu") return 3;
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
  request.prequant = mode_of(options.text("prequant"));
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
  for (const double value : numbers(options, "slope", request.slope_is_vector() ? request.n : 0))
    request.slope_words.push_back(fp19("--slope", value, true, warnings));
}

}  // namespace tilevp::pto::matmul
