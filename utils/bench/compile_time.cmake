# bench-compile: time of ts-compile, phase by phase. Another input: cmake -DTS_BENCH_INPUT=FILE.
set(TS_BENCH_INPUT ${PROJECT_SOURCE_DIR}/examples/gemm_sm100.mlir CACHE FILEPATH "Input of bench-compile")
set(TS_BENCH_ARCH "" CACHE STRING "--arch of bench-compile; empty: the input's own")
find_package(Python3 COMPONENTS Interpreter)
add_custom_target(bench-compile
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/utils/bench/compile_time.py
    $<TARGET_FILE:ts-compile> ${TS_BENCH_INPUT} "--arch=${TS_BENCH_ARCH}"
  DEPENDS ts-compile USES_TERMINAL VERBATIM)
