# The product sources that fuzz targets need, instrumented and without SystemC: tilevp_fuzz_product. In front of it, for
# the target `description` alone, tilevp_fuzz_descriptions.
set(root ${PROJECT_BINARY_DIR}/include/fuzz/tilevp)
file(MAKE_DIRECTORY ${root}/platform)
foreach(folder base cube described dma interconnect memory neuroncore numeric)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/models/${folder} ${root}/${folder} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/firmware/runtime ${root}/runtime SYMBOLIC)
foreach(folder assembly pto)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/firmware/${folder} ${root}/${folder} SYMBOLIC)
endforeach()
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/firmware/neuron ${root}/neuron SYMBOLIC)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/sc_main ${root}/sc_main SYMBOLIC)
foreach(file description.hpp key_checks.hpp machine.hpp memory_models.hpp sha256.hpp waves wiring.hpp)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/platform/${file} ${root}/platform/${file} SYMBOLIC)
endforeach()

set(TILEVP_SHIPPED "")
foreach(name trn1 trn2 trn3)
  file(READ ${PROJECT_SOURCE_DIR}/platform/descriptions/${name}.json text)
  string(APPEND TILEVP_SHIPPED "    {\"${name}\", R\"description(${text})description\"},\n")
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/platform/shipped_descriptions.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/shipped_descriptions.cpp @ONLY)

add_library(tilevp_fuzz_product STATIC
  ${PROJECT_SOURCE_DIR}/firmware/assembly/mistake.cpp
  ${PROJECT_SOURCE_DIR}/firmware/neuron/assembler/assemble.cpp
  ${PROJECT_SOURCE_DIR}/firmware/neuron/assembler/binary.cpp
  ${PROJECT_SOURCE_DIR}/firmware/neuron/assembler/disassembly.cpp
  ${PROJECT_SOURCE_DIR}/firmware/neuron/assembler/grammar.cpp
  ${PROJECT_SOURCE_DIR}/firmware/neuron/assembler/line_builder.cpp
  ${PROJECT_SOURCE_DIR}/firmware/pto/assembler/assemble.cpp
  ${PROJECT_SOURCE_DIR}/firmware/pto/assembler/disassembly.cpp
  ${PROJECT_SOURCE_DIR}/firmware/pto/assembler/grammar.cpp
  ${PROJECT_SOURCE_DIR}/firmware/pto/assembler/statement.cpp
  ${PROJECT_SOURCE_DIR}/firmware/runtime/npy.cpp
  ${PROJECT_SOURCE_DIR}/firmware/runtime/npy_header.cpp
  ${PROJECT_SOURCE_DIR}/firmware/runtime/tensor.cpp
  ${PROJECT_SOURCE_DIR}/models/base/clock_domain.cpp
  ${PROJECT_SOURCE_DIR}/models/base/printable.cpp
  ${PROJECT_SOURCE_DIR}/models/cube/decode.cpp
  ${PROJECT_SOURCE_DIR}/models/cube/disassemble.cpp
  ${PROJECT_SOURCE_DIR}/models/cube/encode.cpp
  ${PROJECT_SOURCE_DIR}/models/cube/names.cpp
  ${PROJECT_SOURCE_DIR}/models/described/document.cpp
  ${PROJECT_SOURCE_DIR}/models/described/nearest.cpp
  ${PROJECT_SOURCE_DIR}/models/described/overrides.cpp
  ${PROJECT_SOURCE_DIR}/models/described/parse.cpp
  ${PROJECT_SOURCE_DIR}/models/described/path.cpp
  ${PROJECT_SOURCE_DIR}/models/described/text.cpp
  ${PROJECT_SOURCE_DIR}/models/dma/descriptor.cpp
  ${PROJECT_SOURCE_DIR}/models/dma/rules.cpp
  ${PROJECT_SOURCE_DIR}/models/memory/access_pattern.cpp
  ${PROJECT_SOURCE_DIR}/models/memory/bandwidth.cpp
  ${PROJECT_SOURCE_DIR}/models/memory/bandwidth_table.cpp
  ${PROJECT_SOURCE_DIR}/models/memory/named_models.cpp
  ${PROJECT_SOURCE_DIR}/models/neuroncore/disassemble.cpp
  ${PROJECT_SOURCE_DIR}/models/neuroncore/isa.cpp
  ${PROJECT_SOURCE_DIR}/models/neuroncore/legality.cpp
  ${PROJECT_SOURCE_DIR}/models/neuroncore/opcode_names.cpp
  ${PROJECT_SOURCE_DIR}/models/neuroncore/rules.cpp
  ${PROJECT_SOURCE_DIR}/models/numeric/convert.cpp
  ${PROJECT_SOURCE_DIR}/models/numeric/convert_baseline.cpp
  ${PROJECT_SOURCE_DIR}/models/numeric/dtype.cpp
  ${PROJECT_SOURCE_DIR}/models/numeric/rounding.cpp
  ${PROJECT_SOURCE_DIR}/platform/waves/vcd_header.cpp
  ${PROJECT_SOURCE_DIR}/platform/waves/vcd_parser.cpp
  ${PROJECT_SOURCE_DIR}/platform/waves/vcd_summary.cpp
  ${PROJECT_SOURCE_DIR}/sc_main/arguments.cpp
  ${PROJECT_SOURCE_DIR}/sc_main/times.cpp)
target_include_directories(tilevp_fuzz_product PUBLIC ${PROJECT_BINARY_DIR}/include/fuzz)
target_link_libraries(tilevp_fuzz_product PUBLIC Boost::json Boost::headers PRIVATE tilevp_options)
# Coverage of the product steers the fuzzer; main() comes from -fsanitize=fuzzer of each target.
target_compile_options(tilevp_fuzz_product PUBLIC -fsanitize=fuzzer-no-link)

# Descriptions name machines, whose interface knows SystemC; the machines themselves are not built.
find_package(SystemC REQUIRED)
add_library(tilevp_fuzz_descriptions STATIC
  no_machine.cpp
  ${CMAKE_CURRENT_BINARY_DIR}/shipped_descriptions.cpp
  ${PROJECT_SOURCE_DIR}/platform/description.cpp
  ${PROJECT_SOURCE_DIR}/platform/key_checks.cpp
  ${PROJECT_SOURCE_DIR}/platform/memory_models.cpp
  ${PROJECT_SOURCE_DIR}/platform/sha256.cpp)
target_link_libraries(tilevp_fuzz_descriptions PUBLIC tilevp_fuzz_product SystemC::systemc PRIVATE tilevp_options)
