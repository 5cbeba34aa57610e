# The CMake package of ttc, an ahead-of-time compiler for GPU kernels in the Triton language.
#
#     find_package(ttc REQUIRED)
#     ttc_add_kernels(program MANIFEST kernels/ttc.toml ARCHS sm_80 sm_90a)
#
# builds what the manifest names whenever one of its files changes, and adds the launchers to the target:
# `#include "program_kernels.h"`. The variable TTC_EXECUTABLE names the compiler, if another one is meant.
cmake_minimum_required(VERSION 3.20)

get_filename_component(_ttc_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(TTC_EXECUTABLE ttc HINTS "${_ttc_prefix}/bin" DOC "The program ttc")
unset(_ttc_prefix)
if(NOT TTC_EXECUTABLE)
  set(ttc_FOUND FALSE)
  set(ttc_NOT_FOUND_MESSAGE "there is no program ttc: put it into PATH, or set TTC_EXECUTABLE to its path")
  return()
endif()

# ttc_add_kernels(TARGET [MANIFEST ttc.toml] [MODULE TARGET_kernels] [ARCHS sm_80 ...])
#
# MANIFEST is relative to the current source folder. MODULE is the name of the header and the source. ARCHS takes the
# place of the manifest's architectures.
function(ttc_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MANIFEST;MODULE" "ARCHS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ttc_add_kernels: `${arg_UNPARSED_ARGUMENTS}` means nothing here; there are MANIFEST, MODULE and ARCHS")
  endif()
  if(NOT arg_MANIFEST)
    set(arg_MANIFEST ttc.toml)
  endif()
  if(NOT arg_MODULE)
    set(arg_MODULE "${target}_kernels")
  endif()
  get_filename_component(manifest "${arg_MANIFEST}" ABSOLUTE)
  set(dir "${CMAKE_CURRENT_BINARY_DIR}/${arg_MODULE}")
  set(options --emit c --module "${arg_MODULE}" --out-dir "${dir}" --MD)
  if(arg_ARCHS)
    list(JOIN arg_ARCHS "," archs)
    list(APPEND options --arch "${archs}")
  endif()
  # Paths in the list of dependencies are absolute, so how CMake reads relative ones does not matter.
  if(POLICY CMP0116)
    cmake_policy(SET CMP0116 NEW)
  endif()
  # A file that comes out as it was keeps its time. Make would run the command again each time; ninja looks at the file.
  set(touch)
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    set(touch COMMAND "${CMAKE_COMMAND}" -E touch "${dir}/${arg_MODULE}.c" "${dir}/${arg_MODULE}.h" "${dir}/ttc_rt.h")
  endif()
  add_custom_command(
    OUTPUT "${dir}/${arg_MODULE}.c" "${dir}/${arg_MODULE}.h" "${dir}/ttc_rt.h"
    COMMAND "${TTC_EXECUTABLE}" build "${manifest}" ${options}
    ${touch}
    DEPENDS "${manifest}" "${TTC_EXECUTABLE}"
    DEPFILE "${dir}/${arg_MODULE}.d"
    COMMENT "Compiling the GPU kernels of ${arg_MANIFEST}"
    VERBATIM)
  target_sources(${target} PRIVATE "${dir}/${arg_MODULE}.c")
  target_include_directories(${target} PRIVATE "${dir}")
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
endfunction()
