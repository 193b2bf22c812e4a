#!/usr/bin/env bash
# gdb_script.sh GDB SCRIPT PROGRAM
# Tests the output of gdb's commands for a program that has stopped, and for its core.
set -eu
gdb=$1 script=$2 program=$(realpath "$3")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$*" >&2
  cat "$folder/said" >&2
  exit 1
}

# looks GDB-ARGUMENT...: what the commands say
looks() {
  timeout 60 "$gdb" -nx -batch -iex "set debuginfod enabled off" -x "$script" "$@" \
    >"$folder/said" 2>&1 </dev/null || true
}

# says COUNT PATTERN: fails unless COUNT lines match
says() {
  [ "$(grep -c -E -e "$2" "$folder/said")" -eq "$1" ] || fail "not $1 lines match '$2':"
}

expect_everybody() {
  says 2 '^subject[01] +LWP [1-9][0-9]* .*; [0-2] suspended fibers$'
  says 1 '^unborn1 +has no thread yet$'
  says 2 '^[01] +subject[01] +a task, waits for [0-9.]+ ms$'
  says 2 '^fiber [01] on subject[01], a task:$'
  says 8 '^#.* in .*waits_in_the_depth'
  says 2 '^#.* in basal::executors::executor::loop'
  says 2 '^#.* in basal::executors::fiber::entry_point::enter'
  says 0 '^#.*make_fcontext'
  # shellcheck disable=SC2016 # what the text has between backquotes is no command
  says 1 'there is no suspended fiber 2; `info basal fibers` lists 2'
  says 1 'usage: basal fiber N bt'
}

looks "$program" -ex "break everybody_waits" -ex "run" -ex "info basal executors" \
  -ex "info basal fibers" -ex "basal fiber all bt" -ex "basal fiber 2 bt" -ex "basal fiber" \
  -ex "frame" -ex "delete" -ex "continue"
if grep -q -i -E "ptrace|not permitted" "$folder/said"; then
  echo "skipped: ptrace is forbidden here: $(grep -i -E "ptrace|not permitted" "$folder/said")"
  exit 77
fi
if grep -q "no debug information of basal" "$folder/said"; then
  echo "skipped: basal was compiled without -g"
  exit 77
fi
expect_everybody
says 1 '^#0 +everybody_waits'        # gdb's own view is as before
says 1 'exited normally'             # and so is the program

# A core that the kernel writes: gdb's own ends at the first page that is marked as a guard.
(cd "$folder" && ulimit -c unlimited && "$program" abort) 2>/dev/null || true
core=$(find "$folder" -name 'core*')
if [ -n "$core" ]; then
  looks "$program" "$core" -ex "info basal executors" -ex "info basal fibers" \
    -ex "basal fiber all bt" -ex "basal fiber 2 bt" -ex "basal fiber"
  expect_everybody
  # The same program with another build id: that core is not its own.
  id=$(readelf -n "$program" | sed -n 's/.*Build ID: //p')
  python3 - "$program" "$folder/other" "$id" <<'END'
import sys
program = open(sys.argv[1], "rb").read()
build_id = bytes.fromhex(sys.argv[3])
assert program.count(build_id) == 1
open(sys.argv[2], "wb").write(program.replace(build_id, build_id[::-1]))
END
  for command in "info basal executors" "info basal fibers" "info basal computations" \
    "basal fiber all bt"; do
    looks "$folder/other" "$core" -ex "$command" -ex "print 6 * 7"
    says 1 "the core is of another build than .*/other \(build id $id, not .*give gdb the program"
    says 1 '42$' # gdb goes on
  done
else
  echo "cores are not tested: $(cat /proc/sys/kernel/core_pattern) is where they go"
fi

looks /bin/true -ex "info basal executors"
says 1 'no debug information of basal'
