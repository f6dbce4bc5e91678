// The grammar of one statement.
#include <limits>

#include "tilevp/dma/registers.hpp"
#include "tilevp/neuron/assembler/terminals.hpp"

namespace tilevp::neuron::assembler {
namespace {

using neuroncore::AluOp;
using neuroncore::Condition;
using neuroncore::Engine;
using neuroncore::Function;
using neuroncore::Instruction;
using neuroncore::Opcode;
using neuroncore::Scalar;
using neuroncore::Space;
using neuroncore::UpdateKind;
using numeric::DType;

const auto skipper = x3::char_(" \t\r") | (x3::char_(";#") >> *x3::char_);

// ---- Names of things

const Names<DType> dtypes{{"fp32", DType::fp32},   {"bf16", DType::bf16},   {"fp16", DType::fp16},
                          {"int32", DType::int32}, {"int16", DType::int16}, {"int8", DType::int8},
                          {"uint8", DType::uint8}};
const Names<AluOp> alu_ops{{"add", AluOp::add}, {"subtract", AluOp::subtract}, {"multiply", AluOp::multiply},
                           {"max", AluOp::max}, {"min", AluOp::min},           {"bypass", AluOp::bypass}};
const Names<Engine> engine_names{{"pe", Engine::pe},
                                 {"scalar", Engine::scalar},
                                 {"gpsimd", Engine::gpsimd},
                                 {"vector", Engine::vector},
                                 {"sync", Engine::sync}};
const Names<Opcode> plain_opcodes{{"nop", Opcode::nop}, {"halt", Opcode::halt}, {"drain", Opcode::drain}};
const Names<std::uint8_t> matmul_flags{{"START", neuroncore::matmul_start},
                                       {"STOP", neuroncore::matmul_stop},
                                       {"ACCUMULATE", neuroncore::matmul_accumulate},
                                       {"REUSE", neuroncore::matmul_reuse}};
const Names<Function> functions{{"copy", Function::copy}, {"relu", Function::relu}};
const Names<UpdateKind> updates{{"+=", UpdateKind::add}, {"-=", UpdateKind::subtract}, {"=", UpdateKind::write}};
const Names<Condition> conditions{{">=", Condition::ge}, {"==", Condition::eq}};

constexpr char dtype_names[] = "a type: fp32, bf16, fp16, int32, int16, int8 or uint8";
template <class Action>
auto dtype(Action action) {
  return must(dtype_names, named(dtypes, action));
}
constexpr char op_names[] = "an operation: add, subtract, multiply, max, min or bypass";
template <class Action>
auto alu_op(Action action) {
  return must(op_names, named(alu_ops, action));
}

// ---- Numbers

const x3::rule<struct sum_id, Number> sum = "a number";
const x3::rule<struct product_id, Number> product = "a product";
const x3::rule<struct factor_id, Number> factor = "a number";

template <class Action>
auto integer(const char* what, Wide low, Wide high, Action action) {
  return Integer<std::remove_const_t<decltype(sum)>, Action>(sum, what, low, high, action);
}
// Where a sum would run into what follows: it stands in parentheses.
template <class Action>
auto short_integer(const char* what, Wide low, Wide high, Action action) {
  return Integer<std::remove_const_t<decltype(factor)>, Action>(factor, what, low, high, action);
}

const auto identifier = x3::raw[x3::lexeme[x3::char_("a-zA-Z_") >> *name_character]];

std::string text_of(const boost::iterator_range<Iterator>& range) { return {range.begin(), range.end()}; }

Number literal_value(const boost::iterator_range<Iterator>& text) {
  const bool hex = text.size() > 2 && text.begin()[1] == 'x';
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin() + (hex ? 2 : 0), text.end(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != text.end())
    throw Mistake{text.begin(), "a number below 2^64", "'" + text_of(text) + "'"};
  return {value};
}

Number constant_value(const LineBuilder& lines, const boost::iterator_range<Iterator>& name) {
  if (const auto value = lines.constant(text_of(name))) return {*value};
  throw Mistake{name.begin(), "a number or the name of a constant defined above"};
}

// Every number on the way stays within 64 bits and a sign.
template <class Operation>
Number combined(const Number& a, const Number& b, Operation operation) {
  Wide result = 0;
  if (operation(a.value, b.value, &result) || result > largest_number || result < -largest_number)
    throw Mistake{nullptr, "a value within 64 bits", "a larger one"};
  return {result};
}
const auto plus = [](Wide a, Wide b, Wide* r) { return __builtin_add_overflow(a, b, r); };
const auto minus = [](Wide a, Wide b, Wide* r) { return __builtin_sub_overflow(a, b, r); };
const auto times = [](Wide a, Wide b, Wide* r) { return __builtin_mul_overflow(a, b, r); };

const auto set = [](auto& c) { x3::_val(c) = x3::_attr(c); };
const auto open = Here([](LineBuilder& b, Iterator at) { b.enter(at); });
const auto close = Here([](LineBuilder& b, Iterator) { b.leave(); });

// The addresses of on-chip places: sbuf(partition, byte), psum(partition, bank, byte).
const auto argument = [](const char* what, Wide high) {
  return Integer<std::remove_const_t<decltype(sum)>, void (*)(LineBuilder&, Wide)>(
      sum, what, 0, high, [](LineBuilder& b, Wide value) { b.push_argument(value); });
};
const auto sbuf_address = word("sbuf") >> x3::lit('(') >> open >> argument("a partition", 127) >>
                          must("','", x3::lit(',')) >> argument("a byte of the partition", 262143) >>
                          must("')'", x3::lit(')')) >> close;
const auto psum_address = word("psum") >> x3::lit('(') >> open >> argument("a partition", 127) >>
                          must("','", x3::lit(',')) >> argument("a bank", 7) >> must("','", x3::lit(',')) >>
                          argument("a byte of the bank", 2047) >> must("')'", x3::lit(')')) >> close;

const auto factor_def =
    x3::raw[x3::lexeme[(("0x" >> +x3::char_("0-9a-fA-F")) | +x3::char_("0-9")) >> !name_character]]
           [([](auto& c) { x3::_val(c) = literal_value(x3::_attr(c)); })] |
    sbuf_address[([](auto& c) { x3::_val(c) = Number{builder(c).take_sbuf_address()}; })] |
    psum_address[([](auto& c) { x3::_val(c) = Number{builder(c).take_psum_address()}; })] |
    identifier[([](auto& c) { x3::_val(c) = constant_value(builder(c), x3::_attr(c)); })] |
    (x3::lit('(') >> open >> must("a number", sum)[set] >> must("')'", x3::lit(')')) >> close) |
    (x3::lit('-') >> open >> must("a number", factor)[([](auto& c) { x3::_val(c) = Number{-x3::_attr(c).value}; })] >>
     close);
const auto product_def = factor[set] >>
                         *(x3::lit('*') >>
                           must("a number",
                                factor)[([](auto& c) { x3::_val(c) = combined(x3::_val(c), x3::_attr(c), times); })]);
const auto sum_def =
    product[set] >>
    *((x3::lit('+') >> !x3::lit('=') >>
       must("a number", product)[([](auto& c) { x3::_val(c) = combined(x3::_val(c), x3::_attr(c), plus); })]) |
      (x3::lit('-') >> !x3::lit('=') >>
       must("a number", product)[([](auto& c) { x3::_val(c) = combined(x3::_val(c), x3::_attr(c), minus); })]));
BOOST_SPIRIT_DEFINE(sum, product, factor)

template <class Action>
auto float_value(Action action) {
  return Float<std::remove_const_t<decltype(factor)>, Action>(factor, action);
}

// ---- Operands

const auto comma = must("','", x3::lit(','));
const auto equals = must("'='", x3::lit('='));

const auto sbuf_place = integer("a byte of the partition", 0, 262143, [](LineBuilder& b, Wide v) { b.tile.byte = v; });
const auto psum_place = must("'bank'", word("bank")) >>
                        short_integer("a bank", 0, 7, [](LineBuilder& b, Wide v) { b.tile.bank = v; }) >>
                        -(x3::lit('+') >>
                          integer("a byte of the bank", 0, 2047, [](LineBuilder& b, Wide v) { b.tile.byte = v; }));
const auto partitions = integer("a partition", 0, 127, [](LineBuilder& b, Wide v) { b.first_partition(v); }) >>
                        -(x3::lit("..") >>
                          integer("a partition", 0, 254, [](LineBuilder& b, Wide v) { b.tile.last = v; }));
const auto dimension = short_integer("a dimension, COUNT:STEP", 0, 65535,
                                     [](LineBuilder& b, Wide v) { b.add_dim_count(v); }) >>
                       must("':'", x3::lit(':')) >> short_integer("a step in elements", -32768, 32767,
                                                                  [](LineBuilder& b, Wide v) { b.add_dim_step(v); });
const auto dimensions = -(x3::lit(',') >> dimension >> *(!x3::lit(']') >> dimension));
const auto begin_bracket = must("'['", x3::lit('['));
const auto space = [](Space value) { return [value](auto& c) { builder(c).tile.space = value; }; };
const auto tile = x3::eps[([](auto& c) { builder(c).begin_tile(); })] >>
                  ((word("sbuf")[space(Space::sbuf)] >> begin_bracket >> partitions >> comma >> sbuf_place) |
                   (word("psum")[space(Space::psum)] >> begin_bracket >> partitions >> comma >> psum_place)) >>
                  dimensions >> must("']'", x3::lit(']')) >> dtype([](LineBuilder& b, DType v) { b.tile.dtype = v; });

constexpr char a_tile[] = "a tile: sbuf[...] or psum[...]";
const auto destination = must(a_tile, from(tile, [](LineBuilder& b, Iterator at) { b.end_destination(at); })) >> equals;
const auto source0 = must(a_tile, from(tile, [](LineBuilder& b, Iterator at) { b.end_source0(at); }));
const auto source1 = must(a_tile, from(tile, [](LineBuilder& b, Iterator at) { b.end_source1(at); }));

template <Scalar Instruction::*scalar>
auto scalar_operand() {
  return (word("sbuf") >> must("'@'", x3::lit('@')) >> short_integer("a byte of the partition", 0, 0xffffffff,
                                                                     [](LineBuilder& b, Wide v) {
                                                                       (b.instruction.*scalar).is_address = true;
                                                                       (b.instruction.*scalar).address =
                                                                           static_cast<std::uint32_t>(v);
                                                                     })) |
         float_value([](LineBuilder& b, Iterator, float v) { (b.instruction.*scalar).immediate = v; });
}

// ---- Clauses

constexpr char a_semaphore[] = "a semaphore";
const auto sem = must("'sem'", word("sem"));
const auto wait_condition =
    sem >>
    integer(a_semaphore, 0, 255, [](LineBuilder& b, Wide v) { b.wait.semaphore = static_cast<std::uint8_t>(v); }) >>
    must("'>=' or '=='", conditions[([](auto& c) { builder(c).wait.condition = x3::_attr(c); })]) >>
    integer("a value", std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(),
            [](LineBuilder& b, Wide v) { b.wait.value = static_cast<std::int32_t>(v); });
const auto wait =
    from(word("wait") >> x3::eps[([](auto& c) { builder(c).wait = {}; })] >> (word("none") | wait_condition),
         [](LineBuilder& b, Iterator at) { b.add_wait(at); });
const auto update = x3::lit(',') >> sem >> integer(a_semaphore, 0, 255,
                                                   [](LineBuilder& b, Wide v) {
                                                     b.instruction.update.semaphore = static_cast<std::uint8_t>(v);
                                                   }) >>
                    must("'+=', '-=' or '='",
                         updates[([](auto& c) { builder(c).instruction.update.kind = x3::_attr(c); })]) >>
                    integer("a value", -32768, 32767,
                            [](LineBuilder& b, Wide v) { b.instruction.update.value = static_cast<std::int16_t>(v); });

template <std::size_t index>
auto unused_wait(const char* name) {
  return word(name) >> short_integer(a_semaphore, 0, 255,
                                     [](LineBuilder& b, Wide v) {
                                       b.instruction.waits[index].semaphore = static_cast<std::uint8_t>(v);
                                     }) >>
         short_integer("a value", std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(),
                       [](LineBuilder& b, Wide v) { b.instruction.waits[index].value = static_cast<std::int32_t>(v); });
}
const auto unused_field =
    (word("partitions") >>
     integer("a count", 1, 128,
             [](LineBuilder& b, Wide v) { b.instruction.partitions = static_cast<std::uint8_t>(v); })) |
    (word("source_partitions") >> integer("a count", 1, 128,
                                          [](LineBuilder& b, Wide v) {
                                            b.instruction.source_partitions = static_cast<std::uint8_t>(v);
                                            b.source_partitions_given = true;
                                          })) |
    (word("dtype") >> dtype([](LineBuilder& b, DType v) { b.instruction.dtype = v; })) |
    (word("source0_dtype") >> dtype([](LineBuilder& b, DType v) { b.instruction.source0_dtype = v; })) |
    (word("source1_dtype") >> dtype([](LineBuilder& b, DType v) { b.instruction.source1_dtype = v; })) |
    unused_wait<0>("wait0") | unused_wait<1>("wait1") |
    (word("update") >>
     short_integer(a_semaphore, 0, 255,
                   [](LineBuilder& b, Wide v) { b.instruction.update.semaphore = static_cast<std::uint8_t>(v); }) >>
     short_integer("a value", -32768, 32767,
                   [](LineBuilder& b, Wide v) { b.instruction.update.value = static_cast<std::int16_t>(v); }));
const auto unused = word("unused") >> must("'('", x3::lit('(')) >>
                    (must("a field of the record", unused_field) % ',') >> must("')'", x3::lit(')'));

// ---- Instructions

auto begin(Opcode opcode) {
  return [opcode](auto& c) { builder(c).begin_instruction(opcode); };
}
auto mnemonic(const char* text, Opcode opcode) {
  return from(word(text), [](LineBuilder& b, Iterator at) { b.require_stream(at); })[begin(opcode)];
}
const auto times_word = must("'x'", word("x"));

const auto plain = from(named(plain_opcodes, [](LineBuilder& b, Opcode opcode) { b.begin_instruction(opcode); }),
                        [](LineBuilder& b, Iterator at) { b.require_stream(at); });
const auto semaphore = mnemonic("semaphore", Opcode::semaphore) >> *wait;
const auto dma_trigger = mnemonic("dma_trigger", Opcode::dma_trigger) >> must("'queue'", word("queue")) >>
                         integer("a queue", 0, 255,
                                 [](LineBuilder& b, Wide v) { b.instruction.queue = static_cast<std::uint8_t>(v); }) >>
                         must("'+='", x3::lit("+=")) >>
                         integer("a count of descriptors", 0, 0xffffffff,
                                 [](LineBuilder& b, Wide v) {
                                   b.instruction.descriptors = static_cast<std::uint32_t>(v);
                                 }) >>
                         *wait;
const auto matmul = mnemonic("matmul", Opcode::matmul) >> destination >> source1 >> times_word >> source0 >>
                    *named(matmul_flags, [](LineBuilder& b, std::uint8_t flag) {
                      b.instruction.flags = static_cast<std::uint8_t>(b.instruction.flags | flag);
                    });
const auto transpose = mnemonic("transpose", Opcode::transpose) >> destination >> source0;
const auto tensor_reduce = mnemonic("tensor_reduce", Opcode::tensor_reduce) >> destination >>
                           alu_op([](LineBuilder& b, AluOp op) { b.instruction.op0 = op; }) >> source0 >>
                           must("'over'", word("over")) >>
                           integer("a count of dimensions", 1, 3,
                                   [](LineBuilder& b, Wide v) { b.instruction.flags = static_cast<std::uint8_t>(v); });
const auto tensor_copy = mnemonic("tensor_copy", Opcode::tensor_copy) >> destination >> source0;
const auto tensor_tensor = mnemonic("tensor_tensor", Opcode::tensor_tensor) >> destination >> source0 >>
                           alu_op([](LineBuilder& b, AluOp op) { b.instruction.op0 = op; }) >> source1;
const auto tensor_scalar =
    mnemonic("tensor_scalar", Opcode::tensor_scalar) >> destination >> must("'('", x3::lit('(')) >> source0 >>
    alu_op([](LineBuilder& b, AluOp op) { b.instruction.op0 = op; }) >> scalar_operand<&Instruction::scalar0>() >>
    must("')'", x3::lit(')')) >>
    alu_op([](LineBuilder& b, AluOp op) { b.instruction.op1 = op; }) >> scalar_operand<&Instruction::scalar1>();
const auto memset = mnemonic("memset", Opcode::memset) >> destination >>
                    float_value([](LineBuilder& b, Iterator, float v) { b.instruction.scalar0.immediate = v; });
const auto activation = mnemonic("activation", Opcode::activation) >> destination >>
                        must("a function: copy or relu",
                             named(functions, [](LineBuilder& b, Function f) { b.instruction.function = f; })) >>
                        must("'('", x3::lit('(')) >> source0 >> times_word >> scalar_operand<&Instruction::scalar0>() >>
                        must("'+'", x3::lit('+')) >> scalar_operand<&Instruction::scalar1>() >>
                        must("')'", x3::lit(')'));
const x3::rule<struct instruction_id> instruction = "an instruction";
const auto instruction_def = (plain | semaphore | dma_trigger | matmul | transpose | tensor_copy | tensor_tensor |
                              tensor_scalar | memset | tensor_reduce | activation) >>
                             -update >> -unused;

// ---- Descriptors

const auto loop = integer("a count", 1, 0xffffffff, [](LineBuilder& b, Wide v) { b.add_loop(v); }) >>
                  must("'by'", word("by")) >>
                  integer("a step in bytes", std::numeric_limits<std::int32_t>::min(),
                          std::numeric_limits<std::int32_t>::max(),
                          [](LineBuilder& b, Wide v) { b.side.loops.back().stride = static_cast<std::int64_t>(v); });
const auto side = x3::eps[([](auto& c) { builder(c).begin_side(); })] >>
                  integer("an address", 0, largest_number,
                          [](LineBuilder& b, Wide v) { b.side.address = static_cast<std::uint64_t>(v); }) >>
                  -(x3::lit('[') >> loop >> *(x3::lit(',') >> loop) >> must("']'", x3::lit(']'))) >>
                  dtype([](LineBuilder& b, DType v) { b.side.dtype = v; }) >>
                  -(word("element") >> integer("bytes of an element", 1, 8, [](LineBuilder& b, Wide v) {
                      b.side.element = static_cast<std::uint32_t>(v);
                    }));
const auto signal = word("sem") >> integer(a_semaphore, 0, 255,
                                           [](LineBuilder& b, Wide v) {
                                             b.descriptor.signals = true;
                                             b.descriptor.semaphore = static_cast<std::uint8_t>(v);
                                           }) >>
                    must("'+='", x3::lit("+=")) >> integer("a value", 0, 0xffffffff, [](LineBuilder& b, Wide v) {
                      b.descriptor.increment = static_cast<std::uint32_t>(v);
                    });
const auto interrupt = word("interrupt")[([](auto& c) { builder(c).descriptor.interrupts = true; })];
const auto transposed = word("transpose")[([](auto& c) { builder(c).descriptor.transposes = true; })];
const auto begin_descriptor = [](bool empty) { return [empty](auto& c) { builder(c).begin_descriptor(empty); }; };
const auto in_ring = [](LineBuilder& b, Iterator at) { b.require_ring(at); };
const auto copy = from(word("copy"), in_ring)[begin_descriptor(false)] >>
                  from(side, [](LineBuilder& b, Iterator at) { b.end_destination_side(at); }) >> equals >>
                  from(side, [](LineBuilder& b, Iterator at) { b.end_source_side(at); });
const auto empty = from(word("empty"), in_ring)[begin_descriptor(true)];
const x3::rule<struct descriptor_id> descriptor = "a descriptor";
const auto descriptor_def = (copy | empty) >> *(x3::lit(',') >> must("'sem', 'interrupt' or 'transpose'",
                                                                     interrupt | signal | transposed));

// ---- Directives

const auto engine = x3::lit(".engine") >> must("an engine: pe, scalar, gpsimd, vector or sync",
                                               named(engine_names, [](LineBuilder& b, Engine e) { b.open_engine(e); }));
const auto ring = x3::lit(".ring") >> x3::eps[([](auto& c) { builder(c).dma_engine = 0; })] >>
                  must("'queue'", word("queue")) >>
                  integer("a queue", 0, dma::registers::queues - 1,
                          [](LineBuilder& b, Wide v) { b.queue = static_cast<std::uint8_t>(v); }) >>
                  -(word("engine") >>
                    integer("a DMA engine", 0, 255,
                            [](LineBuilder& b, Wide v) { b.dma_engine = static_cast<std::uint8_t>(v); })) >>
                  x3::eps[([](auto& c) { builder(c).open_ring(); })];
const auto constant = from(
    x3::lit(".equ") >> must("a name", identifier[([](auto& c) { builder(c).new_name = text_of(x3::_attr(c)); })]) >>
        equals >> integer("a value", -largest_number, largest_number, [](LineBuilder& b, Wide v) { b.new_value = v; }),
    [](LineBuilder& b, Iterator at) { b.define(at, b.new_name, b.new_value); });
const auto hex_byte = x3::uint_parser<unsigned, 16, 2, 2>();
const auto record = from(x3::lit(".record"), [](LineBuilder& b, Iterator at) { b.begin_record(at); }) >>
                    from(*hex_byte[([](auto& c) { builder(c).add_record_byte(x3::_attr(c)); })],
                         [](LineBuilder& b, Iterator at) { b.end_record(at); });
// `[COUNT x] VALUE`
struct DataValue : x3::parser<DataValue> {
  using attribute_type = x3::unused_type;
  static constexpr bool has_attribute = false;
  template <class Context, class RContext, class Attribute>
  bool parse(Iterator& first, const Iterator& last, const Context& context, RContext& rcontext, Attribute&) const {
    LineBuilder& b = builder(context);
    b.repeat = 1;
    x3::skip_over(first, last, context);
    Iterator at = first;
    Number count;
    const bool digit = first != last && (*first >= '0' && *first <= '9');
    if ((digit || (first != last && *first == '(')) && factor.parse(at, last, context, rcontext, count) &&
        word("x").parse(at, last, context, rcontext, x3::unused)) {
      if (count.value < 1 || count.value > largest_count)
        throw Mistake{first, "a count from 1 to " + number_text(largest_count), number_text(count.value)};
      b.repeat = count.value;
      first = at;
    }
    if (b.data_is_float())
      return float_value([](LineBuilder& lines, Iterator place, float v) { lines.add_float(place, v); })
          .parse(first, last, context, rcontext, x3::unused);
    x3::skip_over(first, last, context);
    at = first;
    return integer("a value", -largest_number, largest_number,
                   [at](LineBuilder& lines, Wide v) { lines.add_integer(at, v); })
        .parse(first, last, context, rcontext, x3::unused);
  }
  static constexpr Wide largest_count = Wide{1} << 26;
};
const auto data = x3::lit(".data") >>
                  integer("an address", 0, largest_number,
                          [](LineBuilder& b, Wide v) { b.begin_data(static_cast<std::uint64_t>(v)); }) >>
                  dtype([](LineBuilder& b, DType v) { b.data_dtype = v; }) >> must("':'", x3::lit(':')) >>
                  (DataValue() % ',');
const auto label = from(identifier[([](auto& c) { builder(c).new_name = text_of(x3::_attr(c)); })] >> x3::lit(':'),
                        [](LineBuilder& b, Iterator at) { b.label(at, b.new_name); });
const x3::rule<struct directive_id> directive = "a directive";
const auto directive_def =
    record | ((engine | ring | constant | data) >> Here([](LineBuilder& b, Iterator) { b.end_directive(); }));

const auto statement = instruction | descriptor | directive;
BOOST_SPIRIT_DEFINE(instruction, descriptor, directive)

}  // namespace

void parse_statement(LineBuilder& lines, const char*& at, const char* end) {
  const auto grammar = x3::with<builder_tag>(lines)[x3::skip(skipper)[*label >> -statement >> x3::eps]];
  x3::parse(at, end, grammar);
}

}  // namespace tilevp::neuron::assembler
