// The grammar of one statement, close to the assembly strings of the public specification (PTO-ISA/pto-spec, the
// records at the head of asl/block/*/*.asl and asl/scalar/alu/*.asl).
#include <charconv>

#include "tilevp/assembly/terminals.hpp"
#include "tilevp/pto/assembler/statement.hpp"

namespace tilevp::pto::assembler {
namespace {

namespace x3 = boost::spirit::x3;
using assembly::builder;
using assembly::from;
using assembly::Iterator;
using assembly::must;
using assembly::name_character;
using assembly::named;
using assembly::Names;
using assembly::Number;
using assembly::word;
using cube::BCatr;
using cube::BDatr;
using cube::BDim;
using cube::BFpatr;
using cube::BIor;
using cube::BIos;
using cube::BIot;
using cube::BStart;
using cube::BStop;
using cube::Scalar;
using cube::ScalarOp;

const auto skipper = x3::char_(" \t\r");

std::uint8_t byte(Wide value) { return static_cast<std::uint8_t>(value); }

// ---- Numbers: decimal or 0x hexadecimal, maybe negative

struct Literal : x3::parser<Literal> {
  using attribute_type = Number;
  static constexpr bool has_attribute = true;
  template <class Context, class RContext>
  bool parse(Iterator& first, const Iterator& last, const Context&, RContext&, Number& number) const {
    const bool negative = first != last && *first == '-';
    const Iterator digits = negative ? first + 1 : first;
    const bool hex = last - digits > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(hex ? digits + 2 : digits, last, value, hex ? 16 : 10);
    if (error == std::errc::invalid_argument) return false;
    if (error == std::errc::result_out_of_range) throw Mistake{first, "a number of 64 bits", std::string(first, end)};
    number.value = negative ? -Wide{value} : Wide{value};
    first = end;
    return true;
  }
};
template <class Action>
auto integer(const char* what, Wide low, Wide high, Action action) {
  return assembly::Integer<Literal, Action>(Literal(), what, low, high, action);
}
constexpr Wide largest_word = (Wide{1} << 32) - 1;

// A number if there is one, given to action(builder, place, value).
template <class Action>
struct NumberHere : x3::parser<NumberHere<Action>> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  explicit NumberHere(Action call) : action(call) {}
  template <class Context, class RContext, class Attribute>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RContext& rcontext, Attribute&) const {
    x3::skip_over(first, last, context);
    const Iterator begin = first;
    Number number;
    if (!Literal().parse(first, last, context, rcontext, number)) return false;
    action(builder(context), begin, number.value);
    return true;
  }
  Action action;
};

// ---- Names

// The codes below `count` that have a name.
template <class Name>
x3::symbols<unsigned> codes(unsigned count, Name name_of) {
  x3::symbols<unsigned> all;
  for (unsigned code = 0; code < count; ++code)
    if (const auto name = name_of(code); !name.empty()) all.add(std::string(name), code);
  return all;
}
const auto gpr_names = codes(cube::gprs, cube::gpr_name);
const auto layout_names = codes(32, cube::data_layout_name);
const auto pad_names = codes(4, cube::pad_name);
const auto rounding_names = codes(8, cube::rounding_mode_name);
const auto prequant_names = codes(64, cube::prequant_name);
const auto relu_names = codes(4, cube::relu_name);
const auto operation_names = codes(14, [](unsigned c) { return name(static_cast<cube::Operation>(c)); });
const auto type_names = codes(
    29, [](unsigned c) { return cube::is_assigned(c) ? name(static_cast<cube::DataType>(c)) : std::string_view{}; });
// Comparisons, and the modes of indexed moves: the operation says which is meant.
const Names<unsigned> cmode_names{{"EQ", 0U}, {"None", 0U}, {"Row", 0U}, {"NE", 1U}, {"Elem", 1U},
                                  {"LT", 2U}, {"GT", 3U},   {"LE", 4U},  {"GE", 5U}};
const Names<unsigned> hand_names{{"T", 0U}, {"U", 1U}, {"M", 2U}, {"N", 3U}};

// The code of a whole word of `names`, given to action(builder, code).
template <class Symbols, class Action>
auto code(const Symbols& names, Action action) {
  return x3::lexeme[names >> !name_character][([action](auto& c) { action(builder(c), x3::_attr(c)); })];
}

const auto comma = must("','", x3::lit(','));
const auto equals = must("'='", x3::lit('='));
const auto arrow = x3::lit("->");
const auto must_arrow = must("'->'", arrow);

constexpr char a_gpr[] = "a GPR: zero, sp, a0 to a7, ra, s0 to s8 or x0 to x3";
template <class Action>
auto gpr(Action action) {
  return code(gpr_names, action);
}
template <class Action>
auto must_gpr(Action action) {
  return must(a_gpr, code(gpr_names, action));
}

template <class Command>
auto begin(const Command& command) {
  return x3::eps[([command](auto& c) { builder(c).start(command); })];
}
template <class Command>
auto mnemonic(const char* text, const Command& command) {
  return word(text) >> begin(command);
}

// ---- BSTART, attributes

const auto bstart = x3::lit("BSTART.") >> begin(BStart{}) >>
                    must("an operation: TGEMV, TMATMUL, TLOAD, ...", code(operation_names,
                                                                          [](Statement& s, unsigned v) {
                                                                            s.as<BStart>().operation =
                                                                                static_cast<cube::Operation>(v);
                                                                          })) >>
                    must("an element type: FP16, S8, ...", code(type_names, [](Statement& s, unsigned v) {
                           s.as<BStart>().type = static_cast<cube::DataType>(v);
                         }));

const auto datr_type =
    must("an element type or DTYPE_NONE",
         code(type_names, [](Statement& s, unsigned v) { s.as<BDatr>().type = byte(v); }) |
             word("DTYPE_NONE")[([](auto& c) { builder(c).template as<BDatr>().type = cube::datr_inherits_type; })]);
const auto datr_rounding =
    must("a rounding: Default, RNE, RTZ, RTM, RTP, RNA, RTO or RHB",
         code(rounding_names, [](Statement& s, unsigned v) { s.as<BDatr>().rounding = byte(v); }));
// The layouts that have no name here stand as their numbers.
const auto datr_layout =
    must("a layout: NORM, ND2M16, ND2M32, ND2N8, M162ND, M322ND, N82ND, or the number of one that is assigned",
         code(layout_names, [](Statement& s, unsigned v) { s.as<BDatr>().layout = byte(v); }) |
             NumberHere([](Statement& s, Iterator at, Wide v) { s.set_layout(at, v); }));
const auto datr_pad = must("a padding: Zero, Max, Min or Null",
                           code(pad_names, [](Statement& s, unsigned v) { s.as<BDatr>().pad = byte(v); }));
const auto datr_cmode = code(cmode_names, [](Statement& s, unsigned v) { s.as<BDatr>().cmode = byte(v); }) |
                        integer("a mode", 0, 5, [](Statement& s, Wide v) { s.as<BDatr>().cmode = byte(v); });
const auto datr_whole =
    x3::lit('{') >> datr_layout >> comma >> datr_type >> comma >> datr_pad >> comma >> datr_cmode >> comma >>
    datr_rounding >> comma >>
    integer("Sat, 0 or 1,", 0, 1, [](Statement& s, Wide v) { s.as<BDatr>().saturate = v != 0; }) >> comma >>
    integer("Canonicalize, 0 or 1,", 0, 1, [](Statement& s, Wide v) { s.as<BDatr>().canonicalize = v != 0; }) >>
    must("'}'", x3::lit('}'));
const auto sat = word("Sat")[([](auto& c) { builder(c).template as<BDatr>().saturate = true; })];
const auto datr_short = datr_type >> -(x3::lit(',') >> datr_rounding >> -(x3::lit(',') >> must("'Sat'", sat)));
const auto datr = mnemonic("B.DATR", BDatr{}) >> (datr_whole | datr_short);

const Names<bool BFpatr::*> fpatr_flags{{"RowMaxEn", &BFpatr::row_max},        {"GroupMaxEn", &BFpatr::group_max},
                                        {"RowMaxInit", &BFpatr::row_max_init}, {"MaxAbsEn", &BFpatr::max_abs},
                                        {"TransA", &BFpatr::trans_a},          {"TransB", &BFpatr::trans_b},
                                        {"CScaleEn", &BFpatr::cscale}};
const auto prequant = code(prequant_names, [](Statement& s, unsigned v) { s.as<BFpatr>().prequant = byte(v); }) |
                      NumberHere([](Statement& s, Iterator at, Wide v) { s.set_prequant(at, v); });
const auto relu = code(relu_names, [](Statement& s, unsigned v) { s.as<BFpatr>().relu = byte(v); }) |
                  integer("a ReluMode", 0, 3, [](Statement& s, Wide v) { s.as<BFpatr>().relu = byte(v); });
const auto fpatr_item =
    named(fpatr_flags, [](Statement& s, bool BFpatr::*flag) { s.as<BFpatr>().*flag = true; }) |
    (word("GroupN") >> equals >>
     must("a number of columns", NumberHere([](Statement& s, Iterator at, Wide v) { s.set_group_columns(at, v); }))) |
    NumberHere([](Statement& s, Iterator at, Wide v) { s.add_fpatr_number(at, v); });
const auto fpatr = mnemonic("B.FPATR", BFpatr{}) >> must("a PreQuantMode", prequant) >> comma >>
                   must("a ReluMode: None, ReLU, LReLU or PReLU", relu) >>
                   *(x3::lit(',') >> must("GroupN=, RowMaxEn, GroupMaxEn, RowMaxInit, MaxAbsEn, TransA, TransB, "
                                          "CScaleEn or a number",
                                          fpatr_item));

const Names<bool BCatr::*> catr_flags{{"trap", &BCatr::trap}, {"atomic", &BCatr::atom}, {"aq", &BCatr::aq},
                                      {"rl", &BCatr::rl},     {"far", &BCatr::far},     {"dr", &BCatr::dr}};
const auto catr_flag =
    named(catr_flags, [](Statement& s, bool BCatr::*flag) { s.as<BCatr>().*flag = true; }) |
    word("aqrl")[([](auto& c) { builder(c).template as<BCatr>().aq = builder(c).template as<BCatr>().rl = true; })];
const auto catr = mnemonic("B.CATR", BCatr{}) >> must("'{'", x3::lit('{')) >> -(catr_flag % ',') >>
                  must("trap, atomic, aq, rl, aqrl, far, dr or '}'", x3::lit('}'));

// ---- Dimensions

const auto dimension_target =
    must("LB0, LB1 or LB2", x3::lexeme["LB" >> x3::char_("0-2") >> !name_character][([](auto& c) {
           builder(c).template as<BDim>().dimension = static_cast<std::uint8_t>(x3::_attr(c) - '0');
         })]);
const auto dim_immediate = integer(
    "a number", 0, (1 << 17) - 1, [](Statement& s, Wide v) { s.as<BDim>().immediate = static_cast<std::uint32_t>(v); });
const auto dim_gpr = gpr([](Statement& s, unsigned v) { s.as<BDim>().gpr = byte(v); });
const auto dim = mnemonic("B.DIM", BDim{}) >> -(dim_gpr >> comma) >> dim_immediate >> comma >> must_arrow
                 >> dimension_target;
const auto dimi = mnemonic("C.B.DIMI", BDim{.compressed = true}) >>
                  integer("a number", 0, 255,
                          [](Statement& s, Wide v) { s.as<BDim>().immediate = static_cast<std::uint32_t>(v); }) >>
                  comma >> must_arrow >> dimension_target;

// ---- Bindings

const auto mask_digits = x3::raw[x3::lexeme[x3::repeat(4)[x3::char_("01")] >> !name_character]];
const auto mask = word("mask") >> equals >>
                  must("a mask of four digits 0 and 1", mask_digits[([](auto& c) {
                         const auto range = x3::_attr(c);
                         builder(c).set_mask(range.begin(), std::string(range.begin(), range.end()));
                       })]);
// "<128B>", "<2KB>", "<4>"
const Names<unsigned> units{{"B", 1U}, {"KB", 1024U}};
const auto size = must("'<'", x3::lit('<')) >> must("a size", NumberHere([](Statement& s, Iterator at, Wide v) {
                                                      s.size_at = at;
                                                      s.size_value = v;
                                                      s.size_unit = 0;
                                                    })) >>
                  -named(units, [](Statement& s, unsigned v) { s.size_unit = v; }) >>
                  must("'B', 'KB' or '>'", x3::lit('>'));

// "T#1": hand * 16 + index.
const auto tile_names = [] {
  x3::symbols<unsigned> all;
  for (unsigned selector = 0; selector < cube::local_tiles; ++selector)
    all.add(std::string(1, "TUMN"[selector / cube::tiles_per_hand]) + "#" +
                std::to_string(selector % cube::tiles_per_hand + 1),
            selector);
  return all;
}();
const auto tile = code(tile_names, [](Statement& s, unsigned v) {
  auto& c = s.as<BIot>();
  c.source[c.sources++] = byte(v);
});
const auto last = (word("last") | (x3::lit('<') >> word("last") >>
                                   '>'))[([](auto& c) { builder(c).template as<BIot>().last = true; })];
const auto tile_destination = arrow >> must("a hand: T, U, M or N", named(hand_names,
                                                                          [](Statement& s, unsigned v) {
                                                                            s.as<BIot>().destination =
                                                                                static_cast<cube::Hand>(v);
                                                                          })) >>
                              from(size, [](Statement& s, Iterator) {
                                s.as<BIot>().size_code = s.size_code(s.size_at, s.size_value, s.size_unit, 10);
                              });
const auto iot = mnemonic("B.IOT", BIot{}) >> -(tile >> comma >> -(tile >> comma)) >>
                 must("at most two tiles T#1 to N#16, then mask=", mask) >>
                 *(x3::lit(',') >> must("'last' or '->'", last | tile_destination)) >>
                 from(x3::eps, [](Statement& s, Iterator at) { s.check_iot(at); });

const auto ior_source =
    from(gpr([](Statement& s, unsigned v) { s.gpr = v; }), [](Statement& s, Iterator at) { s.add_scalar_source(at); });
const auto ior_destination = arrow >> must_gpr([](Statement& s, unsigned v) { s.as<BIor>().destination = byte(v); });
const auto ior = mnemonic("B.IOR", BIor{}) >> (must("a GPR or '->'", ior_source | ior_destination) % ',');

const auto shared_tile = x3::lexeme['S' >> integer("a shared tile", 0, 255,
                                                   [](Statement& s, Wide v) { s.as<BIos>().shared_tile = byte(v); })];
const auto shared_destination = mask >> comma >> must_arrow >> must("a shared tile S0 to S255", shared_tile) >>
                                from(size, [](Statement& s, Iterator) {
                                  s.as<BIos>().size_code = s.size_code(s.size_at, s.size_value, s.size_unit, 12);
                                });
const auto ios = mnemonic("B.IOS", BIos{}) >>
                 must("S0 to S255, or mask=", (shared_tile >> comma >> must("mask=", mask)) | shared_destination);

const auto stop = mnemonic("BSTOP", BStop{}) | mnemonic("C.BSTOP", BStop{cube::StopForm::c_bstop}) |
                  mnemonic("L.BSTOP", BStop{cube::StopForm::l_bstop});

// ---- Scalars

const auto scalar_left = must_gpr([](Statement& s, unsigned v) { s.as<Scalar>().left = byte(v); });
const auto scalar_right = must_gpr([](Statement& s, unsigned v) { s.as<Scalar>().right = byte(v); });
const auto scalar_destination = comma >> must_arrow >>
                                must_gpr([](Statement& s, unsigned v) { s.as<Scalar>().destination = byte(v); });
auto immediate(Wide low, Wide high) {
  return integer("a number", low, high,
                 [](Statement& s, Wide v) { s.as<Scalar>().immediate = static_cast<std::int64_t>(v); });
}
auto scalar(ScalarOp op) { return mnemonic(cube::name(op).data(), Scalar{.op = op}); }
auto with_immediate(ScalarOp op, unsigned bits) {
  return scalar(op) >> scalar_left >> comma >> immediate(0, (Wide{1} << bits) - 1) >> scalar_destination;
}
const Names<cube::Modifier> modifiers{
    {".sw", cube::Modifier::sw}, {".uw", cube::Modifier::uw}, {".neg", cube::Modifier::neg}};
auto with_register(ScalarOp op) {
  return scalar(op) >> scalar_left >> comma >> scalar_right >>
         -named(modifiers, [](Statement& s, cube::Modifier m) { s.as<Scalar>().modifier = m; }) >>
         -(x3::lit("<<") >> integer("a shift", 0, 31, [](Statement& s, Wide v) { s.as<Scalar>().shift = byte(v); })) >>
         scalar_destination;
}
auto load(ScalarOp op, Wide low, Wide high) { return scalar(op) >> immediate(low, high) >> scalar_destination; }
const auto short_scalar = with_immediate(ScalarOp::addi, 12) | with_immediate(ScalarOp::subi, 12) |
                          with_register(ScalarOp::add) | with_register(ScalarOp::sub) |
                          load(ScalarOp::lui, -(1 << 19), (1 << 19) - 1);
const auto long_scalar = with_immediate(ScalarOp::hl_addi, 24) | with_immediate(ScalarOp::hl_subi, 24) |
                         load(ScalarOp::hl_liu, 0, largest_word) | load(ScalarOp::hl_lui, 0, largest_word) |
                         load(ScalarOp::hl_lis, -(Wide{1} << 31), (Wide{1} << 31) - 1);

// ---- Words as they are

auto raw(const char* text, unsigned bytes) {
  return word(text) >>
         integer("a word", 0, (Wide{1} << 8 * bytes) - 1, [bytes](Statement& s, Wide v) { s.raw(bytes, v); });
}
const auto words = raw(".word", 4) | raw(".half", 2) | raw(".dword", 8);

// Rules, so that the compiler meets the parts one by one.
const x3::rule<struct header_id> header = "a header command";
const auto header_def = bstart | iot | dim | ior | datr | fpatr | stop | dimi | ios | catr;
const x3::rule<struct scalar_id> scalar_rule = "a scalar instruction";
const auto scalar_rule_def = short_scalar | long_scalar;
const x3::rule<struct words_id> words_rule = "words";
const auto words_rule_def = words;
BOOST_SPIRIT_DEFINE(header, scalar_rule, words_rule)

}  // namespace

void parse_statement(Statement& statement, const char*& at, const char* end) {
  const auto grammar =
      x3::with<assembly::builder_tag>(statement)[x3::skip(skipper)[-(header | scalar_rule | words_rule) >> x3::eps]];
  x3::parse(at, end, grammar);
}

}  // namespace tilevp::pto::assembler
