# Language level, warnings and numeric rules that hold for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# -O2: gcc 12 raises a false -Wrestrict on string concatenation at -O3.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")

option(TILEVP_WERROR "Treat warnings as errors" ON)
set(TILEVP_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize= (address,undefined)")

add_library(tilevp_options INTERFACE)
target_compile_options(tilevp_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast
  # gcc contracts a*b+c into an fma by default; the bits of every result are part of the machines' definition.
  -ffp-contract=off
  $<$<BOOL:${TILEVP_WERROR}>:-Werror>)

if(TILEVP_SANITIZE)
  # asan-stack=0: exceptions caught inside an SC_THREAD leave poisoned frames behind and raise false reports.
  set(sanitizer_flags -fsanitize=${TILEVP_SANITIZE} -fno-sanitize-recover=undefined -fno-sanitize=vptr,null -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TILEVP_SANITIZE MATCHES "address")
    list(APPEND sanitizer_flags --param asan-stack=0)
  endif()
  target_compile_options(tilevp_options INTERFACE ${sanitizer_flags})
  target_link_options(tilevp_options INTERFACE -fsanitize=${TILEVP_SANITIZE})
endif()

option(TILEVP_FUZZ "Build the fuzz targets as libFuzzer programs, in place of all tests (clang)" OFF)
if(TILEVP_FUZZ)
  # Coverage of the product steers the fuzzer; main() comes from -fsanitize=fuzzer of each target.
  target_compile_options(tilevp_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
