# tilevp_library(NAME [INTERNAL] [SOURCES ...] [DEPENDS ...])
#
# One target a folder. Its headers are included as "tilevp/NAME/x.hpp" and it exports nothing else: the include root holds
# one symbolic link to the folder, so including a folder that is not among DEPENDS does not compile.
# NAME may hold a slash (platform/waves); the target is then tilevp_platform_waves, alias tilevp::platform_waves.
# It is installed as TileVP::platform_waves, with its headers, unless it is INTERNAL.
# Targets that name SystemC or Boost.JSON among DEPENDS start from precompiled headers (TileVPPrecompiled.cmake).
function(tilevp_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "" "SOURCES;DEPENDS")
  string(REPLACE "/" "_" id ${name})
  set(root ${PROJECT_BINARY_DIR}/include/${id})
  cmake_path(GET name PARENT_PATH parent)
  file(MAKE_DIRECTORY ${root}/tilevp/${parent})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/tilevp/${name} SYMBOLIC)
  if(arg_SOURCES)
    add_library(tilevp_${id} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(tilevp_${id} PRIVATE $<BUILD_INTERFACE:tilevp_options>)
    tilevp_precompile(tilevp_${id} ${arg_DEPENDS})
  else()
    add_library(tilevp_${id} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(tilevp::${id} ALIAS tilevp_${id})
  target_include_directories(tilevp_${id} ${scope} $<BUILD_INTERFACE:${root}>)
  target_link_libraries(tilevp_${id} ${scope} ${arg_DEPENDS})
  if(NOT arg_INTERNAL)
    tilevp_install_library(${name} ${id} ${root})
  endif()
endfunction()

# tilevp_test(NAME SOURCES ... DEPENDS ... [LABELS ...] [OPTIMISED])
#
# A GoogleTest program whose tests ctest runs one process each; its main is tests/support/test_main.cpp.
# The sources of a test are built at -O0: most tests run for milliseconds, and optimising what GoogleTest's templates expand
# to takes half of their compile time. OPTIMISED is for tests that compute much themselves.
function(tilevp_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMISED" "" "SOURCES;DEPENDS;LABELS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE tilevp_options tilevp_test_support ${arg_DEPENDS})
  if(arg_OPTIMISED)
    tilevp_precompile(${name} SystemC::systemc)
  else()
    target_compile_options(${name} PRIVATE -O0)
    if(TILEVP_PCH)
      tilevp_start_from(${name} tests)
    endif()
  endif()
  gtest_discover_tests(${name} NO_PRETTY_VALUES DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300 LABELS "${arg_LABELS}")
endfunction()
