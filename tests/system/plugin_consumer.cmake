# Installs the build, builds the example of docs/plugins.md against it as a stranger would, runs it and reads the report.
#   cmake -D BUILD=... -D EXAMPLE=... -D WORK=... -D CXX=... -D TYPE=... -D BOOST=... -P plugin_consumer.cmake
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${result}\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
step(${CMAKE_COMMAND} -S ${EXAMPLE} -B ${WORK}/build -G Ninja -DCMAKE_BUILD_TYPE=${TYPE} -DCMAKE_CXX_COMPILER=${CXX}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_PREFIX_PATH=${prefix} -DBOOST_ROOT=${BOOST})
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${prefix}/bin/tilevp run example/scale --plugin ${WORK}/build/example.so -c hbm.model=example/latency_memory
  -c hbm.options.latency_ns=30 -c hbm.options.bytes_per_ns=8 --report ${WORK}/report.json)

file(READ ${WORK}/report.json report)
function(expect expected)
  string(JSON found GET "${report}" ${ARGN})
  if(NOT found STREQUAL expected)
    message(FATAL_ERROR "report: ${ARGN}: expected ${expected}, found ${found}")
  endif()
endfunction()
expect(finished status)
expect(example/scale program name)
expect(0 verification mismatches)
# 16384 bytes at 8 bytes/ns, 30 ns, and 1000 ns of the host's read.
expect(3078000 result read_ps)
