# What every target of this project shares.
include(GoogleTest)
find_package(GTest REQUIRED)

add_library(loopbrick_options INTERFACE)
target_compile_options(loopbrick_options INTERFACE -Wall -Wextra -Wshadow -Wconversion
                       -Wno-missing-field-initializers  # designated initialisers leave defaults out
                       -Wno-restrict)                   # false alarms of g++ 12 on std::string + "literal"

# loopbrick_library(<folder> SOURCES ... [LINK ...] [PRIVATE ...]): the library of one folder.
function(loopbrick_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;PRIVATE")
  add_library(loopbrick_${name} STATIC ${arg_SOURCES})
  add_library(loopbrick::${name} ALIAS loopbrick_${name})
  target_include_directories(loopbrick_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(loopbrick_${name} PUBLIC ${arg_LINK} PRIVATE loopbrick_options ${arg_PRIVATE})
  set_target_properties(loopbrick_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# loopbrick_test(<folder> SOURCES ... [LINK ...]): one program `<folder>_tests` from the folder's *_test.cpp files;
# every TEST is a ctest entry.
function(loopbrick_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  add_executable(${name}_tests ${arg_SOURCES})
  target_link_libraries(${name}_tests PRIVATE loopbrick::${name} loopbrick_options ${arg_LINK} GTest::gtest_main)
  gtest_discover_tests(${name}_tests TEST_PREFIX ${name}. PROPERTIES TIMEOUT 300 DISCOVERY_TIMEOUT 60)
endfunction()
