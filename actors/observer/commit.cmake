# cmake -DTREE=... -DOUTPUT=... -P commit.cmake: a source that names the commit which TREE was built
# from: "unknown" where TREE is not the whole of a git repository.
execute_process(COMMAND git rev-parse --show-toplevel HEAD
  WORKING_DIRECTORY ${TREE} OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE failed)
file(REAL_PATH ${TREE} tree)
set(commit unknown)
if(NOT failed AND found MATCHES "^(.*)\n([0-9a-f]+)\n$" AND CMAKE_MATCH_1 STREQUAL tree)
  string(SUBSTRING ${CMAKE_MATCH_2} 0 12 commit)
endif()
file(WRITE ${OUTPUT} "#include \"version.hpp\"

const char* const basal::observer::commit = \"${commit}\";
")
