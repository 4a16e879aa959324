# How every folder of the tree becomes a target: warnings, sanitizers, linker, and two functions.
#
# A folder is one library that links only what it may include, so a wrong arrow does not build
# (the arrows are drawn in docs/architecture.md).

set(MUSTER_SANITIZE "" CACHE STRING "Sanitizers for -fsanitize=, for example address,undefined")
option(MUSTER_FUZZ "Build the libFuzzer targets" OFF)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wswitch -Werror=switch
                    -Werror=return-type -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_compile_options(-Wthread-safety -Werror=thread-safety -Wno-gnu-zero-variadic-macro-arguments)
endif()
# Settings are filled by name; what is not named keeps its default.
add_compile_options(-Wno-missing-field-initializers)
if(MUSTER_SANITIZE)
  add_compile_options(-fsanitize=${MUSTER_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MUSTER_SANITIZE})
endif()

# A server and an agent that run as root make an overrun of a buffer hard to use.
if(NOT MUSTER_SANITIZE)
  add_compile_options(-fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_CXX_FLAGS_RELEASE MATCHES "-O[123]")
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  endif()
  add_link_options(LINKER:-z,relro LINKER:-z,now)
endif()

# What a program does not use is left out of it (--gc-sections), also of files that are compiled together.
if(NOT MUSTER_SANITIZE)
  add_compile_options(-ffunction-sections -fdata-sections)
endif()

find_program(MUSTER_CCACHE ccache)
if(MUSTER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the tree, so that two clones share what was compiled once.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${MUSTER_CCACHE})
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  add_link_options(-fuse-ld=lld)
endif()

# muster_library(NAME [SOURCES file...] [PUBLIC lib...] [PRIVATE lib...])
# A static library of the folder's sources (all *.cpp here unless SOURCES says otherwise).
function(muster_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} INTERFACE ${ARG_PUBLIC} ${ARG_PRIVATE})
  endif()
endfunction()

# muster_pch(TARGET header...): what most files of the target include anyway is parsed once. Files still
# include what they use: the preset gcc builds without. Compiled files are shared between clones
# (ccache) only where all headers are others' (<…>); so headers of the tree are worth it in large
# folders alone.
function(muster_pch target)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # The same headers give the same bytes, which ccache needs.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# muster_proto(NAME file.proto): a static library of lite protobuf messages, included as "<stem>.pb.h".
function(muster_proto name proto)
  cmake_parse_arguments(ARG "" "" "PUBLIC" ${ARGN})
  get_filename_component(stem ${proto} NAME_WE)
  get_filename_component(dir ${proto} DIRECTORY)
  set(out ${CMAKE_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out})
  add_custom_command(
    OUTPUT ${out}/${stem}.pb.cc ${out}/${stem}.pb.h
    COMMAND protobuf::protoc --cpp_out=lite:${out} -I ${dir} -I ${PROJECT_SOURCE_DIR}/api ${proto}
    DEPENDS ${proto} VERBATIM)
  add_library(${name} STATIC ${out}/${stem}.pb.cc ${out}/${stem}.pb.h)
  target_include_directories(${name} SYSTEM PUBLIC ${out})
  target_compile_options(${name} PRIVATE -w)
  target_link_libraries(${name} PUBLIC protobuf::libprotobuf-lite ${ARG_PUBLIC})
endfunction()

# muster_test(NAME LABEL label [SOURCES file...] [LIBS lib...]): one GoogleTest program under ctest.
function(muster_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;LIBS" ${ARGN})
  if(NOT ARG_SOURCES)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
endfunction()
