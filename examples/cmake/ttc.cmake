# ttc_add_kernel(TARGET FILE KERNEL [ARCHS sm_80,sm_90a] [GRID "cdiv(n, BLOCK)"] [OPTIONS ...])
#
# Compiles KERNEL of FILE with ttc whenever the file changes, and adds its launcher to TARGET: `#include "KERNEL.h"`.
# ttc is found in PATH, or named by -DTTC=path/to/ttc.
find_program(TTC ttc REQUIRED)

function(ttc_add_kernel target file kernel)
  cmake_parse_arguments(arg "" "ARCHS;GRID" "OPTIONS" ${ARGN})
  if(NOT arg_ARCHS)
    set(arg_ARCHS sm_80,sm_90a)
  endif()
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/kernels)
  set(options --arch ${arg_ARCHS} ${arg_OPTIONS})
  if(arg_GRID)
    list(APPEND options --grid ${arg_GRID})
  endif()
  get_filename_component(file ${file} ABSOLUTE)
  add_custom_command(
    OUTPUT ${dir}/${kernel}.c ${dir}/${kernel}.h
    COMMAND ${TTC} compile ${file} -k ${kernel} --emit c --module ${kernel} --out-dir ${dir} ${options}
    DEPENDS ${file} ${TTC}
    VERBATIM)
  target_sources(${target} PRIVATE ${dir}/${kernel}.c)
  target_include_directories(${target} PRIVATE ${dir})
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
endfunction()
