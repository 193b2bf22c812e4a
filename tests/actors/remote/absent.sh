#!/bin/sh
# absent.sh PROGRAM REMOTE: REMOTE links CAF's network and OpenSSL, PROGRAM links neither.
set -eu
network='libcaf_io|libcaf_openssl|libssl|libcrypto'
readelf -d "$2" | grep -qE "NEEDED.*($network)" || {
  echo "$2 links no network: has a library another name?" >&2
  exit 1
}
if readelf -d "$1" | grep -E "NEEDED.*($network)" >&2; then
  exit 1
fi
