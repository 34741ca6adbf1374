# One folder under src/ is one library, one namespace, one test binary.
#
#   muster_module(json USES base PRIVATE simdjson::simdjson)
#
# builds muster_json from every *.cc of the folder, json_test from its *_test.cc, one benchmark per
# *_bench.cc and (with MUSTER_FUZZ) one fuzzer per *_fuzz.cc. USES names the modules whose headers it
# includes, TESTS_USE what its tests, benchmarks and fuzzers include besides. Include paths and
# libraries are passed on to who uses it; scripts/layering.py sees to it that the lists are true.
# FOLDERS names subfolders whose files belong to the module as well.
# ALONE names files that a MUSTER_UNITY build must not merge with others, because a name in their
# unnamed namespace is also used by another file of the module. Test files need no such list: each has a namespace of its own, named like the file.

# Headers that every file sees: the standard's and fmt, in tests gtest; never headers of our own. g++ compiles them once for all
# modules: once for each was most of the room that a build takes. What clang makes of them names the folder that it
# lies in, so that a compiler cache would know it in no other checkout: there each file reads them by itself.
set(MUSTER_HEADERS <algorithm> <array> <chrono> <cstdint> <expected> <functional> <map> <memory> <mutex>
    <optional> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
set(MUSTER_TEST_HEADERS <gtest/gtest.h> <gmock/gmock.h> <string> <vector> <fmt/format.h>)

# Test files are compiled without optimization under a sanitizer, which takes a third of the time. What they test is optimized.
set(MUSTER_TEST_OPTIONS "")
if(MUSTER_SANITIZE)
  set(MUSTER_TEST_OPTIONS -O0)
endif()

function(muster_compile_headers target headers options)
  add_library(${target} OBJECT ${PROJECT_SOURCE_DIR}/cmake/empty.cc)
  target_compile_options(${target} PRIVATE ${options})
  target_link_libraries(${target} PRIVATE ${ARGN})
  target_precompile_headers(${target} PRIVATE ${${headers}})
endfunction()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  muster_compile_headers(muster_headers MUSTER_HEADERS "" fmt::fmt)
  muster_compile_headers(muster_test_headers MUSTER_TEST_HEADERS "${MUSTER_TEST_OPTIONS}" fmt::fmt GTest::gmock)
endif()

function(muster_common_headers target compiled headers)
  if(TARGET ${compiled})
    target_precompile_headers(${target} REUSE_FROM ${compiled})
    return()
  endif()
  foreach(header ${${headers}})
    string(REGEX REPLACE "[<>]" "" header ${header})
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${header}>")
  endforeach()
endfunction()

# Replaces the sources in `list` by files that include `size` of them each. Our own rather than CMake's UNITY_BUILD: these name
# their sources relative to an include path, so that a compiler cache recognises them in another checkout.
function(muster_merge_sources list module folder size alone)
  set(merged "")
  set(waiting "")
  foreach(source ${${list}})
    if(source IN_LIST alone)
      list(APPEND merged ${source})
    else()
      list(APPEND waiting ${source})
    endif()
  endforeach()
  set(number 0)
  while(waiting)
    list(SUBLIST waiting 0 ${size} unit)
    list(REMOVE_ITEM waiting ${unit})
    list(TRANSFORM unit REPLACE "(.+)" "#include \"${folder}/\\1\"\n")
    list(JOIN unit "" text)
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${module}_unit_${number}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
    list(APPEND merged ${file})
    math(EXPR number "${number} + 1")
  endwhile()
  set(${list} ${merged} PARENT_SCOPE)
endfunction()

function(muster_module name)
  cmake_parse_arguments(arg "" "" "USES;TESTS_USE;FOLDERS;PRIVATE;EMBED;ALONE" ${ARGN})
  set(dir ${CMAKE_CURRENT_SOURCE_DIR})
  set(patterns ${arg_FOLDERS})
  list(TRANSFORM patterns REPLACE "(.+)" "${dir}/\\1/*.cc")
  file(GLOB all CONFIGURE_DEPENDS RELATIVE ${dir} ${dir}/*.cc ${patterns})
  set(sources ${all})
  list(FILTER sources EXCLUDE REGEX "(_test|_bench|_fuzz|^main)\\.cc$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(benches ${all})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  set(fuzzers ${all})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")

  cmake_path(RELATIVE_PATH dir BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE below_src)
  if(NOT sources)  # headers only, so far
    set(arg_EMBED ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/empty.cc)
  elseif(MUSTER_UNITY)
    muster_merge_sources(sources ${name} ${below_src} 16 "${arg_ALONE}")
  endif()
  add_library(muster_${name} STATIC ${sources} ${arg_EMBED})
  set_target_properties(muster_${name} PROPERTIES LINKER_LANGUAGE CXX)
  # Each module publishes src/<module> as <module>/..., through a folder that holds only that link.
  set(include_dir ${CMAKE_BINARY_DIR}/include/${name})
  cmake_path(GET below_src PARENT_PATH parent)
  file(MAKE_DIRECTORY ${include_dir}/${parent})
  file(CREATE_LINK ${dir} ${include_dir}/${below_src} SYMBOLIC)
  target_include_directories(muster_${name} PUBLIC ${include_dir})
  list(TRANSFORM arg_USES PREPEND muster_)
  list(TRANSFORM arg_TESTS_USE PREPEND muster_)
  target_link_libraries(muster_${name} PUBLIC ${arg_USES} fmt::fmt PRIVATE ${arg_PRIVATE} Threads::Threads)
  muster_common_headers(muster_${name} muster_headers MUSTER_HEADERS)

  if(tests AND NOT MUSTER_FUZZ)
    if(MUSTER_UNITY)
      muster_merge_sources(tests ${name}_test ${below_src} 8 "${arg_ALONE}")
    endif()
    add_executable(${name}_test ${tests})
    target_compile_options(${name}_test PRIVATE ${MUSTER_TEST_OPTIONS})
    target_link_libraries(${name}_test PRIVATE muster_${name} ${arg_TESTS_USE} ${arg_PRIVATE} GTest::gmock GTest::gtest_main)
    muster_common_headers(${name}_test muster_test_headers MUSTER_TEST_HEADERS)
    # One process for all tests of a module: a process for each spends most of its time starting up under a sanitizer.
    add_test(NAME ${name}_test COMMAND ${name}_test --gtest_brief=1)
  endif()
  foreach(bench ${benches})
    cmake_path(GET bench STEM stem)
    add_executable(${stem} EXCLUDE_FROM_ALL ${bench})
    target_link_libraries(${stem} PRIVATE muster_${name} ${arg_TESTS_USE} ${arg_PRIVATE} benchmark::benchmark_main)
  endforeach()
  if(MUSTER_FUZZ)
    foreach(fuzz ${fuzzers})
      cmake_path(GET fuzz STEM stem)
      add_executable(${stem} ${fuzz})
      target_link_libraries(${stem} PRIVATE muster_${name} ${arg_TESTS_USE} ${arg_PRIVATE})
      target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()
