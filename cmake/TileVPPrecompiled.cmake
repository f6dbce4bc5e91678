# The headers that cost most to read, precompiled once for the whole project instead of once a folder.
#
# A precompiled header serves only targets whose command line defines the same macros, hence a set for each combination of
# libraries. Sources still include what they use: scripts/lint compiles without precompiled headers.
#
# Scripts switch it on where there is no ccache, which with its default settings does not cache what starts from a precompiled
# header.
option(TILEVP_PCH "Precompile the headers of the C++ library, SystemC, Boost and GoogleTest" OFF)

set(TILEVP_PCH_STD
  <algorithm> <array> <bit> <cmath> <cstddef> <cstdint> <cstring> <filesystem> <fstream> <functional> <limits> <map> <memory>
  <optional> <random> <span> <sstream> <string> <string_view> <utility> <vector>)
set(TILEVP_PCH_JSON <boost/describe.hpp> <boost/json.hpp>)
set(TILEVP_PCH_SYSTEMC
  <systemc> <tlm> <tlm_utils/multi_passthrough_target_socket.h> <tlm_utils/simple_initiator_socket.h> <tlm_utils/simple_target_socket.h>)

# tilevp_precompiled_set(NAME [HEADERS ...] [DEPENDS ...] [OPTIONS ...])
function(tilevp_precompiled_set name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;DEPENDS;OPTIONS")
  set(source ${PROJECT_BINARY_DIR}/CMakeFiles/precompiled.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// A target has a source.\n" @ONLY)
  add_library(tilevp_precompiled_${name} OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(tilevp_precompiled_${name} PRIVATE tilevp_options ${arg_DEPENDS})
  target_compile_options(tilevp_precompiled_${name} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(tilevp_precompiled_${name} PRIVATE ${arg_HEADERS})
endfunction()

# tilevp_precompile(TARGET LIBRARIES...) lets TARGET start from the set for these libraries, where there is one.
function(tilevp_precompile target)
  set(set "")
  if("SystemC::systemc" IN_LIST ARGN)
    list(APPEND set systemc)
  endif()
  if("Boost::json" IN_LIST ARGN)
    list(APPEND set json)
  endif()
  list(JOIN set _ set)
  if(TILEVP_PCH AND set)
    tilevp_start_from(${target} ${set})
  endif()
endfunction()

function(tilevp_start_from target set)
  target_precompile_headers(${target} REUSE_FROM tilevp_precompiled_${set})
  cmake_language(EVAL CODE "cmake_language(DEFER CALL tilevp_skip_precompiled ${target})")
endfunction()

# Sources with options of their own read the headers as text: gcc 12 refuses headers precompiled with another -m, and crashes
# on those precompiled with another -O under ThreadSanitizer.
function(tilevp_skip_precompiled target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(options)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

if(TILEVP_PCH)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # gcc 12 sees overruns in std::string that are not there. It keeps silent about system headers, but not where they come
    # precompiled.
    target_compile_options(tilevp_options INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
      -Wno-maybe-uninitialized -Wno-free-nonheap-object -Wno-error=invalid-pch)
  endif()
  tilevp_precompiled_set(json HEADERS ${TILEVP_PCH_STD} ${TILEVP_PCH_JSON} DEPENDS Boost::json)
  tilevp_precompiled_set(systemc HEADERS ${TILEVP_PCH_STD} ${TILEVP_PCH_SYSTEMC} DEPENDS SystemC::systemc)
  tilevp_precompiled_set(systemc_json HEADERS ${TILEVP_PCH_STD} ${TILEVP_PCH_SYSTEMC} ${TILEVP_PCH_JSON}
    DEPENDS SystemC::systemc Boost::json)
endif()
