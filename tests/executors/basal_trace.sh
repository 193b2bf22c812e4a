#!/bin/sh
# basal_trace.sh PROGRAM BASAL_TRACE PROTOC
# A program streams its records, basal-trace converts them, protoc reads the result; and what
# basal-trace cannot read or write it refuses with a sentence.
set -eu
program=$1 basal_trace=$2 protoc=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$*" >&2
  exit 1
}

# refuses WORDS ARGUMENT...: basal-trace ends with 1 and says the words
refuses() {
  words=$1
  shift
  if "$basal_trace" "$@" 2>"$folder/said"; then
    fail "basal-trace $* does not fail"
  fi
  grep -q "$words" "$folder/said" || fail "basal-trace $* says: $(cat "$folder/said")"
}

BASAL_TRACE="$folder/raw" "$program" >/dev/null
"$basal_trace" "$folder/raw" "$folder/trace"
"$protoc" --decode_raw <"$folder/trace" >"$folder/text"
grep -q '^  60 {' "$folder/text" || fail "no track is described"
grep -q '^  11 {' "$folder/text" || fail "no event"

"$basal_trace" --help >"$folder/said" || fail "--help fails"
grep -q "^usage: basal-trace RECORDING TRACE" "$folder/said" || fail "--help does not say how"
if "$basal_trace" --help me too 2>"$folder/said"; then
  fail "three arguments are not refused"
fi

refuses "No such file" "$folder/nothing" "$folder/trace"
refuses "is no flight recording" "$0" "$folder/trace"
refuses "cannot write" "$folder/raw" "$folder/nothing/trace"

# A program that cannot stream goes on.
BASAL_TRACE=$folder/nothing/raw "$program" >/dev/null 2>"$folder/said"
grep -q "cannot write the flight recording" "$folder/said" || fail "nothing is said"

# Nor does one end that is told nonsense about the recorder.
BASAL_RECORDER=perhaps "$program" >/dev/null 2>"$folder/said"
grep -q 'BASAL_RECORDER is "perhaps".*say true or false' "$folder/said" || fail "nothing is said"
