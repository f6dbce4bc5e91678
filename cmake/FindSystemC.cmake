# FindSystemC: the imported target SystemC::systemc.
#
# Debian ships no package file for SystemC, the library carries the C++ standard it was built for in a link symbol
# (sc_api_version_2_3_4_cxx201703L), and a build with POSIX-thread coroutines is far too slow and breaks the sanitizers.
# One small program, built and run here, proves all three: it links only with the right SC_CPLUSPLUS, and it exits with 2
# when an SC_THREAD does not run on the caller's own thread.
#
# Sets SystemC_FOUND, SystemC_VERSION, SystemC_CPLUSPLUS (the standard the library was built for).

find_path(SystemC_INCLUDE_DIR systemc HINTS $ENV{SYSTEMC_HOME}/include)
find_library(SystemC_LIBRARY systemc HINTS $ENV{SYSTEMC_HOME}/lib $ENV{SYSTEMC_HOME}/lib-linux64)

if(SystemC_INCLUDE_DIR AND SystemC_LIBRARY AND NOT SystemC_CPLUSPLUS)
  set(probe ${CMAKE_BINARY_DIR}/CMakeFiles/systemc_probe.cpp)
  file(WRITE ${probe} [[
#include <systemc>
#include <pthread.h>
#include <cstdio>
struct Probe : sc_core::sc_module {
  SC_HAS_PROCESS(Probe);
  explicit Probe(sc_core::sc_module_name name) : sc_module(name) { SC_THREAD(run); }
  void run() { wait(1, sc_core::SC_NS); same = pthread_equal(pthread_self(), kernel) != 0; ran = true; }
  pthread_t kernel = pthread_self();
  bool ran = false, same = false;
};
int sc_main(int, char**) {
  Probe probe("probe");
  sc_core::sc_start();
  std::printf("%d.%d.%d", SC_VERSION_MAJOR, SC_VERSION_MINOR, SC_VERSION_PATCH);
  return !probe.ran ? 1 : probe.same ? 0 : 2;
}
]])
  foreach(standard 202002L 201703L 201402L 201103L)
    try_run(run_result built ${CMAKE_BINARY_DIR}/CMakeFiles ${probe}
      CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${SystemC_INCLUDE_DIR}"
      COMPILE_DEFINITIONS -DSC_CPLUSPLUS=${standard} -DSC_DISABLE_COPYRIGHT_MESSAGE
      LINK_LIBRARIES ${SystemC_LIBRARY}
      CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON
      RUN_OUTPUT_VARIABLE run_output)
    if(built)
      set(library_standard ${standard})  # the loop variable ends with the loop
      break()
    endif()
  endforeach()
  if(NOT built)
    message(FATAL_ERROR "SystemC at ${SystemC_LIBRARY} does not link for any C++ standard from 11 to 20")
  elseif(run_result EQUAL 2)
    message(FATAL_ERROR "SystemC at ${SystemC_LIBRARY} was built with POSIX-thread coroutines; TileVP needs a build with QuickThreads (Debian's libsystemc-dev is one)")
  elseif(NOT run_result EQUAL 0)
    message(FATAL_ERROR "SystemC at ${SystemC_LIBRARY}: the probe program failed (${run_result}): ${run_output}")
  endif()
  set(SystemC_CPLUSPLUS ${library_standard} CACHE INTERNAL "C++ standard that the SystemC library was built for")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${run_output}")
  set(SystemC_PROBED_VERSION ${version} CACHE INTERNAL "")
endif()
set(SystemC_VERSION ${SystemC_PROBED_VERSION})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SystemC REQUIRED_VARS SystemC_LIBRARY SystemC_INCLUDE_DIR VERSION_VAR SystemC_VERSION)

if(SystemC_FOUND AND NOT TARGET SystemC::systemc)
  add_library(SystemC::systemc UNKNOWN IMPORTED)
  set_target_properties(SystemC::systemc PROPERTIES
    IMPORTED_LOCATION ${SystemC_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${SystemC_INCLUDE_DIR}
    # Without SC_INCLUDE_DYNAMIC_PROCESSES there is no sc_spawn.
    INTERFACE_COMPILE_DEFINITIONS "SC_CPLUSPLUS=${SystemC_CPLUSPLUS};SC_INCLUDE_DYNAMIC_PROCESSES")
endif()
mark_as_advanced(SystemC_INCLUDE_DIR SystemC_LIBRARY)
