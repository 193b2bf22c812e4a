#!/usr/bin/env bash
# gdb_script.sh GDB SCRIPT PROGRAM
# Tests what gdb's command says of computations.
set -eu
gdb=$1 script=$2 program=$3
said=$(mktemp)
trap 'rm -f "$said"' EXIT

timeout 60 "$gdb" -nx -batch -iex "set debuginfod enabled off" -x "$script" "$program" \
  -ex "break everybody_has_begun" -ex "run" -ex "info basal computations" -ex "delete" \
  -ex "continue" >"$said" 2>&1 </dev/null || true
if grep -q -i -E "ptrace|not permitted|no debug information of basal" "$said"; then
  echo "skipped: ptrace is forbidden here, or basal was compiled without -g"
  exit 77
fi

# says COUNT PATTERN: fails unless COUNT lines match
says() {
  if [ "$(grep -c -E -e "$2" "$said")" -ne "$1" ]; then
    echo "not $1 lines match '$2':" >&2
    cat "$said" >&2
    exit 1
  fi
}
says 1 '^subject_tree on basal\.call0: waits for an event$'
says 1 '^  delegate on basal\.cpu[0-2]: waits for an event$'
says 1 '^    delegate on basal\.cpu[0-2]: runs$'
says 1 'exited normally'
