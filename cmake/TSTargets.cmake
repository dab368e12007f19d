# The two kinds of target this project has, and the rules each follows.
#
#   ts_add_library(name SOURCES... [MLIR] [PUBLIC libs...])
#   ts_add_tool(name SOURCES... [MLIR] [LINK libs...])
#
# A target without MLIR must not include MLIR or LLVM headers: the protocol, the runtime and the
# emulator are usable without a compiler, and the sanitizer build covers exactly those.
# With MLIR, a target links the shared `MLIR` and `LLVM` libraries and no static archive of
# theirs (mixing the two registers command-line options twice).

set(TS_WARNINGS -Wall -Wextra -Werror -Wno-unused-parameter)

function(_ts_common target use_mlir)
  target_compile_options(${target} PRIVATE ${TS_WARNINGS})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  if(use_mlir)
    target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
    target_link_libraries(${target} PUBLIC MLIR LLVM)
    target_compile_definitions(${target} PRIVATE ${LLVM_DEFINITIONS_LIST})
    add_dependencies(${target} TSIncGen)
    if(TS_ENABLE_PCH AND NOT target STREQUAL ts-pch)
      target_precompile_headers(${target} REUSE_FROM ts-pch)
      # The header is compiled with -fPIC for the libraries; clang refuses it under a tool's -fPIE.
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
  elseif(TS_ENABLE_SANITIZERS)
    # Without -fsanitize=function: the CUDA driver's entry points come from dlsym, and their opaque
    # handle types are declared here under names of our own.
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize=function
      -fno-sanitize-recover=all -g)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
    if(TS_ENABLE_FUZZERS)
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
  endif()
endfunction()

# One precompiled header for all MLIR targets.
function(ts_add_pch)
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/ts-pch.cpp "// Holds the precompiled header; see cmake/TSTargets.cmake.\n")
  add_library(ts-pch OBJECT ${CMAKE_CURRENT_BINARY_DIR}/ts-pch.cpp)
  _ts_common(ts-pch ON)
  target_precompile_headers(ts-pch PRIVATE
    <mlir/IR/Builders.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/Dialect.h> <mlir/IR/DialectImplementation.h>
    <mlir/IR/OpImplementation.h> <mlir/IR/PatternMatch.h> <mlir/Pass/Pass.h>
    <mlir/Dialect/Arith/IR/Arith.h> <mlir/Dialect/GPU/IR/GPUDialect.h>
    <mlir/Dialect/LLVMIR/LLVMDialect.h> <mlir/Dialect/LLVMIR/NVVMDialect.h>
    <mlir/Dialect/MemRef/IR/MemRef.h> <mlir/Dialect/SCF/IR/SCF.h>)
endfunction()

function(ts_add_library name)
  cmake_parse_arguments(ARG "MLIR" "" "PUBLIC" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  _ts_common(${name} ${ARG_MLIR})
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC})
  set_property(GLOBAL APPEND PROPERTY TS_LIBRARIES ${name})
endfunction()

function(ts_add_tool name)
  cmake_parse_arguments(ARG "MLIR" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  _ts_common(${name} ${ARG_MLIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY TS_TOOLS ${name})
endfunction()
