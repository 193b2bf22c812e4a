# Runs STOCK and BASAL (with OPTIONS) for ROUNDS rounds and fails unless both print the same. With
# ONE_CPU, on the first of the CPUs that this process may use.
set(launcher)
if(ONE_CPU)
  execute_process(COMMAND sh -c "taskset -cp $PPID" OUTPUT_VARIABLE cpus COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE ".*: ([0-9]+).*" "\\1" cpu "${cpus}")
  set(launcher taskset -c ${cpu})
endif()

function(run RESULT PROGRAM)
  execute_process(COMMAND ${launcher} ${PROGRAM} --conformance.rounds=${ROUNDS} ${ARGN}
    OUTPUT_VARIABLE output
    RESULT_VARIABLE status
    TIMEOUT 110)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ${ARGN} ended with ${status}; it printed\n${output}")
  endif()
  set(${RESULT} "${output}" PARENT_SCOPE)
endfunction()

# ThreadSanitizer's reports on stock CAF are none of ours.
set(tsan_options "$ENV{TSAN_OPTIONS}")
set(ENV{TSAN_OPTIONS} "${tsan_options} report_bugs=0")
run(expected ${STOCK})
set(ENV{TSAN_OPTIONS} "${tsan_options}")
run(actual ${BASAL} ${OPTIONS})
string(LENGTH "${expected}" length)
if(length LESS 1000)
  message(FATAL_ERROR "${STOCK} printed only ${length} characters:\n${expected}")
endif()
if(NOT actual STREQUAL expected)
  string(RANDOM LENGTH 8 suffix)
  set(prefix "${CMAKE_CURRENT_BINARY_DIR}/conformance-${suffix}")
  file(WRITE "${prefix}-stock.txt" "${expected}")
  file(WRITE "${prefix}-basal.txt" "${actual}")
  execute_process(COMMAND diff -u "${prefix}-stock.txt" "${prefix}-basal.txt"
    OUTPUT_VARIABLE difference)
  message(FATAL_ERROR "basal prints something else than stock CAF:\n${difference}")
endif()
