// The close of a matrix bundle, a function a step, numbered as the executable model goes through them
// (PTO-ISA/pto-spec, asl/block/model/dispatch/cube-tmatmul.asl, ExecuteBundleTMATMULOperation). Step 1, mask zero, is
// in preflight.cpp.
#include <array>

#include "tilevp/cube/element.hpp"
#include "tilevp/cube/preflight_steps.hpp"
#include "tilevp/cube/prequant.hpp"
#include "tilevp/cube/rules.hpp"

namespace tilevp::cube {
namespace {

constexpr std::array roundings{numeric::Rounding::rne, numeric::Rounding::rne, numeric::Rounding::rtz,
                               numeric::Rounding::rtm, numeric::Rounding::rtp, numeric::Rounding::rna,
                               numeric::Rounding::rto, numeric::Rounding::rhb};

constexpr bool is_m_layout(Layout layout) { return layout == Layout::cube_m16 || layout == Layout::cube_m32; }

class MatrixClose {
 public:
  MatrixClose(const Header& header, const Gprs& gpr, const Parameters& parameters, TileRegisters& tiles,
              bool would_wait)
      : header_(header),
        gpr_(gpr),
        parameters_(parameters),
        tiles_(tiles),
        would_wait_(would_wait),
        selectors_(source_selectors(header)) {}

  Verdict run() {
    using Step = MaybeFault (MatrixClose::*)();
    constexpr Step on_the_header[] = {&MatrixClose::step_2_fpatr,     &MatrixClose::step_3_selector,
                                      &MatrixClose::step_4_schema,    &MatrixClose::step_5_gemv,
                                      &MatrixClose::step_6_transpose, &MatrixClose::step_7_scalar_words};
    for (const Step step : on_the_header)
      if (auto fault = (this->*step)()) return std::move(*fault);
    if (const auto producer = in_flight_source(tiles_, selectors_)) return Wait{producer};
    constexpr Step on_tiles[] = {&MatrixClose::step_8_post_sources, &MatrixClose::step_9_math_sources,
                                 &MatrixClose::step_10_c_and_d, &MatrixClose::step_12_destinations};
    for (const Step step : on_tiles)
      if (auto fault = (this->*step)()) return std::move(*fault);
    return operation_;
  }

 private:
  static BundleFault illegal(unsigned step, const char* rule, std::string text) {
    return fault_at(step, FaultCode::tile_legality, rule, std::move(text));
  }

  MaybeFault step_2_fpatr() {
    if (header_.fpatr) return {};
    return fault_at(2, FaultCode::bundle_control, rule::no_fpatr, "the bundle has no B.FPATR");
  }

  MaybeFault step_3_selector() {
    operation_.operation = header_.start.operation;
    if (!is_mx(operation_.operation)) return {};
    return fault_at(3, FaultCode::illegal_instruction, rule::mx_form, "the MX matrix forms are not modelled");
  }

  MaybeFault step_4_schema() {
    const Operation op = operation_.operation;
    operation_.a_type = header_.start.type;
    operation_.b_type = header_.b_type();
    operation_.post = *header_.fpatr;
    operation_.accumulate = parameters_.accumulate;
    mode_ = find_prequant(operation_.post.prequant);
    if (!is_ordinary(operation_.a_type) || !is_ordinary(operation_.b_type) ||
        numeric_class(operation_.a_type) != numeric_class(operation_.b_type))
      return illegal(4, rule::type_pair,
                     "A " + std::string(name(operation_.a_type)) + " with B " + std::string(name(operation_.b_type)));
    operation_.accumulator = accumulator_of(numeric_class(operation_.a_type));
    if (!header_.shared.empty())
      return illegal(4, rule::shared_tile,
                     is_gemv(op) ? "TGEMV binds no shared tile" : "shared tiles of TMATMUL are not modelled");
    if (auto fault = bindings()) return fault;
    if (auto fault = scalar_bindings()) return fault;
    if (auto fault = data_attributes()) return fault;
    operation_.m = header_.dimension[0].value_or(1);
    operation_.n = header_.dimension[1].value_or(1);
    operation_.k = header_.dimension[2].value_or(1);
    for (unsigned i = 0; i < 3; ++i)
      if (header_.dimension[i] == 0) return illegal(4, rule::dimension_zero, "LB" + std::to_string(i) + " is 0");
    // Masks: B.IOT agree since they were latched.
    operation_.mask = header_.tiles.front().mask;
    return parameters_.isa_revision == IsaRevision::r1 ? scalar_words() : MaybeFault{};
  }

  MaybeFault bindings() {
    const BFpatr& post = operation_.post;
    const Operation op = operation_.operation;
    const std::size_t sources = 2U + (accumulates(op) ? 1U : 0U) + (has_bias(op) ? 1U : 0U) +
                                (post.cscale && cscale_allowed() ? 1U : 0U) + (post.row_max_init ? 1U : 0U) +
                                (mode_->parameter == Parameter::vector ? 1U : 0U) + (post.relu == 3 ? 1U : 0U);
    if (selectors_.size() != sources)
      return illegal(4, rule::source_count,
                     std::to_string(selectors_.size()) + " sources, expected " + std::to_string(sources));
    std::size_t found = 0;
    for (const TileBinding& binding : header_.tiles) found += binding.has_destination() ? 1 : 0;
    const std::size_t expected = 1U + (post.row_max ? 1U : 0U) + (post.group_max ? 1U : 0U);
    if (found != expected)
      return illegal(4, rule::destination_count,
                     std::to_string(found) + " destinations, expected " + std::to_string(expected));
    if (!header_.tiles.back().fields.last) return illegal(4, rule::last_missing, "the last B.IOT has L = 0");
    return {};
  }

  // Dense: the quantisation word first, the ReLU word in the next free source.
  MaybeFault scalar_bindings() {
    const std::size_t consumed =
        (mode_->parameter == Parameter::scalar ? 1U : 0U) + (operation_.post.relu == 2 ? 1U : 0U);
    if (!header_.ior) {
      if (consumed == 0) return {};
      return illegal(4, rule::scalar_missing, "no B.IOR for " + std::to_string(consumed) + " scalar parameters");
    }
    if (header_.ior->destination != 0) return illegal(4, rule::ior_unused, "B.IOR: RegDst is not 0");
    for (std::size_t i = consumed; i < header_.ior->source.size(); ++i)
      if (header_.ior->source[i] != 0)
        return illegal(4, rule::ior_unused, "B.IOR: RegSrc" + std::to_string(i) + " is not consumed and not 0");
    return {};
  }

  MaybeFault data_attributes() {
    if (!header_.datr) return {};
    const BDatr& datr = *header_.datr;
    if (datr.layout != 0 || datr.pad != 0 || datr.cmode != 0 || datr.canonicalize)
      return illegal(4, rule::datr_unused, "B.DATR: Layout, PadValue, CMode and Canonicalize must be 0");
    const auto refuse = [&](const std::string& what) {
      return illegal(4, rule::datr_conversion, "PreQuantMode " + std::string(mode_->name) + " with " + what);
    };
    if (datr.rounding != 0 && mode_->rounding != ModeRounding::programmable)
      return refuse("RMode " + std::to_string(datr.rounding));
    if (datr.saturate && !mode_->may_saturate()) return refuse("Sat");
    operation_.rounding = roundings[datr.rounding % roundings.size()];
    operation_.saturate = datr.saturate;
    return {};
  }

  MaybeFault step_5_gemv() {
    if (!is_gemv(operation_.operation) || operation_.m == 1) return {};
    return illegal(5, rule::gemv_rows, "TGEMV with M = " + std::to_string(operation_.m));
  }

  MaybeFault step_6_transpose() {
    if (!operation_.post.trans_a && !operation_.post.trans_b) return {};
    return illegal(6, rule::transpose_local,
                   std::string(operation_.post.trans_a ? "TransA" : "TransB") + " with a local operand");
  }

  MaybeFault step_7_scalar_words() {
    return parameters_.isa_revision == IsaRevision::r1 ? MaybeFault{} : scalar_words();
  }

  // Step 7 in 0.58.4, a part of step 4 in 0.58.3.
  MaybeFault scalar_words() {
    const unsigned step = parameters_.isa_revision == IsaRevision::r1 ? 4 : 7;
    std::size_t next = 0;
    if (mode_->parameter == Parameter::scalar) {
      operation_.quant_word = gpr_[header_.ior->source[next++]];
      if (!quant_word_legal(*mode_, operation_.quant_word))
        return illegal(step, rule::quant_word,
                       std::string(mode_->name) + " does not take its word " + std::to_string(operation_.quant_word));
    }
    if (operation_.post.relu == 2) {
      operation_.slope_word = gpr_[header_.ior->source[next]];
      if (!slope_word_legal(operation_.slope_word))
        return illegal(step, rule::slope_word,
                       "ReluMode 2 does not take the word " + std::to_string(operation_.slope_word));
    }
    return {};
  }

  MaybeFault step_8_post_sources() {
    if (!accepts(*mode_, operation_.accumulator))
      return illegal(8, rule::accumulator_class,
                     std::string(mode_->name) + " on a sum of type " + std::string(name(operation_.accumulator)));
    operation_.d_type = result_type(*mode_, operation_.accumulator);
    const Operation op = operation_.operation;
    std::size_t next = 2U + (accumulates(op) ? 1U : 0U) + (has_bias(op) ? 1U : 0U) +
                       (operation_.post.cscale && cscale_allowed() ? 1U : 0U);
    if (operation_.post.row_max_init) {
      if (auto fault = parameter("RowMaxIn", next, operation_.m, 1, operation_.accumulator)) return fault;
      operation_.row_max_in = tiles_.find(selectors_[next++]);
    }
    if (mode_->parameter == Parameter::vector) {
      if (auto fault = parameter("QuantParam", next, 1, operation_.n, DataType::u64)) return fault;
      operation_.quant_vector = tiles_.find(selectors_[next++]);
      if (auto fault = words(*operation_.quant_vector, [&](std::uint64_t w) { return quant_word_legal(*mode_, w); }))
        return fault;
    }
    if (operation_.post.relu == 3) {
      if (auto fault = parameter("PReLUParam", next, 1, operation_.n, DataType::u64)) return fault;
      operation_.slope_vector = tiles_.find(selectors_[next++]);
      if (auto fault = words(*operation_.slope_vector, slope_word_legal)) return fault;
    }
    return {};
  }

  MaybeFault parameter(const char* role, std::size_t at, std::uint32_t rows, std::uint32_t columns, DataType type) {
    auto fault = operand(
        role, at, rows, columns, type, [](Layout layout) { return layout == Layout::row_major; }, "ND");
    if (!fault) return {};
    fault->step = 8;
    fault->rule = rule::parameter_tile;
    return fault;
  }

  template <class Legal>
  MaybeFault words(TileSlot slot, Legal&& legal) const {
    for (unsigned pe = 0; pe < pes; ++pe) {
      if (!selects(operation_.mask, pe)) continue;
      const auto payload = tiles_.payload(slot, pe);
      for (std::uint32_t column = 0; column < operation_.n; ++column)
        if (const std::uint64_t word = load_word(payload.data(), column); !legal(word))
          return illegal(
              8, rule::parameter_word,
              "parameter " + std::to_string(column) + " of PE" + std::to_string(pe) + " is " + std::to_string(word));
    }
    return {};
  }

  MaybeFault step_9_math_sources() {
    const bool acc = accumulates(operation_.operation);
    const auto m_layout = [](Layout layout) { return is_m_layout(layout); };
    std::size_t next = 0;
    if (acc) {
      const auto a = tiles_.find(selectors_[1]);
      const bool known = a && is_m_layout(tiles_.descriptor(*a).layout);
      const Layout layout_of_a = known ? tiles_.descriptor(*a).layout : Layout::row_major;
      const auto as_a = [&](Layout layout) { return known ? layout == layout_of_a : is_m_layout(layout); };
      if (auto fault = operand("C", 0, operation_.m, operation_.n, operation_.accumulator, as_a, "that of A"))
        return fault;
      operation_.c = tiles_.find(selectors_[next++]);
      if (auto fault = capacity_of_c()) return fault;
    }
    if (auto fault =
            operand("A", next, operation_.m, operation_.k, operation_.a_type, m_layout, "CUBE_M16 or CUBE_M32"))
      return fault;
    operation_.a = *tiles_.find(selectors_[next++]);
    // Step 11, an M layout that holds M rows, cannot fail once A has passed: its M layout holds its valid rows.
    operation_.m_layout = tiles_.descriptor(operation_.a).layout;
    if (auto fault = operand(
            "B", next, operation_.k, operation_.n, operation_.b_type,
            [](Layout layout) { return layout == Layout::cube_n8; }, "CUBE_N8"))
      return fault;
    operation_.b = *tiles_.find(selectors_[next++]);
    if (has_bias(operation_.operation)) {
      if (auto fault = operand(
              "Bias", next, 1, operation_.n, operation_.accumulator,
              [](Layout layout) { return layout == Layout::row_major; }, "ND"))
        return fault;
      operation_.bias = tiles_.find(selectors_[next++]);
    }
    return operation_.post.cscale ? cscale(next) : MaybeFault{};
  }

  bool cscale_allowed() const { return operation_.operation == Operation::tmatmul_acc; }

  MaybeFault cscale(std::size_t at) {
    if (!cscale_allowed() || operation_.accumulator != DataType::fp32)
      return illegal(
          9, rule::cscale_operation,
          "CScaleEn goes with TMATMUL.ACC on FP32, found a sum of type " + std::string(name(operation_.accumulator)));
    if (auto fault = operand(
            "CScale", at, operation_.m, 1, DataType::u8, [](Layout layout) { return layout == Layout::cube_m32; },
            "CUBE_M32"))
      return fault;
    operation_.cscale = tiles_.find(selectors_[at]);
    cscale_selector_ = selectors_[at];
    return {};
  }

  MaybeFault capacity_of_c() const {
    if (mode_->code != 0) return {};
    for (const TileBinding& binding : header_.tiles) {
      if (!binding.has_destination()) continue;
      const std::uint32_t d = size_code_bytes(binding.fields.size_code);
      const std::uint32_t c = tiles_.descriptor(*operation_.c).capacity_bytes;
      if (c == d) return {};
      return illegal(9, rule::c_capacity, "C has " + std::to_string(c) + " bytes a PE, D " + std::to_string(d));
    }
    return {};
  }

  // One source: there is a tile, in all PEs, of the layout, type and shape, all of it defined.
  template <class LayoutTest>
  MaybeFault operand(const char* role, std::size_t at, std::uint32_t rows, std::uint32_t columns, DataType type,
                     LayoutTest&& layout_fits, const char* layout_text) const {
    const auto refuse = [&](const char* rule, const std::string& what) {
      return illegal(9, rule, std::string(role) + " (" + selector_name(selectors_[at]) + ") " + what);
    };
    const auto slot = tiles_.find(selectors_[at]);
    if (!slot) return refuse(rule::source_missing, "names no tile");
    const TileDescriptor& tile = tiles_.descriptor(*slot);
    if ((tile.mask & operation_.mask) != operation_.mask)
      return refuse(rule::source_mask, "is in PEs " + std::to_string(tile.mask) + ", the bundle runs in " +
                                           std::to_string(operation_.mask));
    if (!layout_fits(tile.layout))
      return refuse(rule::source_layout, "has layout " + std::string(name(tile.layout)) + ", expected " + layout_text);
    if (tile.type != type)
      return refuse(rule::source_type, "is " + std::string(name(tile.type)) + ", expected " + std::string(name(type)));
    if (tile.valid_rows != rows || tile.valid_columns != columns)
      return refuse(rule::source_shape, "is " + shape_text(tile.valid_rows, tile.valid_columns) + ", expected " +
                                            shape_text(rows, columns));
    if (!tiles_.defined(*slot)) return refuse(rule::source_undefined, "has undefined elements");
    return {};
  }

  // Codes of sources against numbers of hands, as the texts have it: C against D's, CScale against every destination's.
  MaybeFault step_10_c_and_d() {
    bool is_d = true;
    for (const TileBinding& binding : header_.tiles) {
      if (!binding.has_destination()) continue;
      const auto hand = static_cast<std::uint8_t>(binding.fields.destination);
      if (is_d && operation_.c && selectors_[0] == hand)
        return illegal(10, rule::c_is_d, "C (" + selector_name(selectors_[0]) + ") has the code of D's hand");
      if (cscale_selector_ == hand)
        return illegal(10, rule::cscale_is_destination,
                       "CScale (" + selector_name(hand) + ") has the code of a destination's hand");
      is_d = false;
    }
    return {};
  }

  MaybeFault step_12_destinations() {
    Slots slots;
    std::uint64_t bytes = 0;
    for (const TileBinding& binding : header_.tiles) {
      if (!binding.has_destination()) continue;
      const auto slot = tiles_.next_free(binding.fields.destination, slots);
      if (!slot) return no_room(rule::hand_full, [&] { return full_hand_text(binding.fields.destination); });
      slots.push_back(*slot);
      bytes += size_code_bytes(binding.fields.size_code);
    }
    if (!tiles_.fits(operation_.mask, bytes))
      return no_room(rule::capacity, [&] { return capacity_text(bytes, tiles_); });
    boost::container::static_vector<TileDescriptor, 3> descriptors;
    if (auto fault = geometry(descriptors)) return fault;
    for (std::size_t i = 0; i < slots.size(); ++i) tiles_.allocate(slots[i], descriptors[i]);
    operation_.d = slots[0];
    if (operation_.post.row_max) operation_.row_max_out = slots[1];
    if (operation_.post.group_max) operation_.group_max_out = slots.back();
    return {};
  }

  MaybeFault geometry(boost::container::static_vector<TileDescriptor, 3>& descriptors) const {
    const std::uint32_t group = group_columns[operation_.post.group_n_code];
    for (const TileBinding& binding : header_.tiles) {
      if (!binding.has_destination()) continue;
      const std::uint32_t bytes = size_code_bytes(binding.fields.size_code);
      const bool is_d = descriptors.empty();
      const bool is_row_max = descriptors.size() == 1 && operation_.post.row_max;
      const std::uint32_t columns = is_d ? operation_.n : is_row_max ? 1 : ceil_div(operation_.n, group);
      const auto tile =
          is_d ? cell_tile(operation_.m_layout, operation_.d_type, operation_.m, columns, bytes, operation_.mask)
               : row_major_tile(operation_.accumulator, operation_.m, columns, columns, bytes, operation_.mask);
      if (!tile)
        return no_room(is_d ? rule::d_size : rule::reduction_size, [&] {
          return std::string(is_d         ? "D"
                             : is_row_max ? "RowMaxOut"
                                          : "GroupMaxOut") +
                 " of " + shape_text(operation_.m, columns) + " makes no tile of " + std::to_string(bytes) +
                 " bytes a PE";
        });
      descriptors.push_back(*tile);
    }
    return {};
  }

  template <class Text>
  BundleFault no_room(const char* rule, Text&& text) const {
    return fault_at(12, FaultCode::tile_allocation, rule, would_wait_ ? std::string() : text());
  }

  const Header& header_;
  const Gprs& gpr_;
  const Parameters& parameters_;
  TileRegisters& tiles_;
  const bool would_wait_;
  const Selectors selectors_;
  const PreQuantMode* mode_ = nullptr;
  std::optional<std::uint8_t> cscale_selector_{};
  MatrixOperation operation_{};
};

}  // namespace

Verdict close_matrix(const Header& header, const Gprs& gpr, const Parameters& parameters, TileRegisters& tiles,
                     bool would_wait) {
  return MatrixClose(header, gpr, parameters, tiles, would_wait).run();
}

}  // namespace tilevp::cube
