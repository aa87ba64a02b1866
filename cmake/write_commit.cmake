# Writes OUT with the commit of SOURCE ("abc1234", "abc1234-dirty", "unknown" outside a checkout), if it changed.
execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=7 --exclude=* --dirty
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
set(text "#define LOOPBRICK_COMMIT \"${commit}\"\n")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT text STREQUAL "${old}")
  file(WRITE ${OUT} "${text}")
endif()
