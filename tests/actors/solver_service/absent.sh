#!/bin/sh
# absent.sh PROGRAM: it has symbols of posse and none of solver.
set -eu
symbols=$(nm -C "$1")
echo "$symbols" | grep -q basal::posse:: || {
  echo "$1 has no symbols of posse: is it stripped?" >&2
  exit 1
}
if echo "$symbols" | grep basal::solver:: >&2; then
  exit 1
fi
