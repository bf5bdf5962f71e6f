#!/bin/bash
# usage: mutations_test.sh TEST_PROGRAM
# SK_SKIP and SK_LESS change what a built program's emulator does, and only that.
set -euo pipefail
program=$1
test=RightKernelsPass

line_of() { # line_of OPERATION FILE: the site that --sites lists first
  SK_SEEDS=1 "$program" --sites "$test" | sed -n "s|^site \(.*/$2:[0-9]*\) $1 [0-9]*\$|\1|p" | head -1
}
expect() { # expect pass|fail VARIABLE SITE
  local result=pass
  env SK_SEEDS=4 "$2=$3" "$program" "$test" >/dev/null || result=fail
  [ "$result" = "$1" ] || { echo "$2=$3: the tests $result, $1 expected"; exit 1; }
  echo "$2=$3: $result"
}

barrier=$(line_of SyncBlock copy_pipeline.h)
wait=$(line_of WaitCopies copy_pipeline.h)
parity=$(line_of MbarrierWait bulk_pipeline.h)
[ -n "$barrier" ] && [ -n "$wait" ] && [ -n "$parity" ]
expect pass SK_SKIP ""
expect fail SK_SKIP "$barrier"
expect fail SK_SKIP "copy_pipeline.h:${barrier##*:}" # any tail of the path that starts a name
expect pass SK_SKIP "pipeline.h:${barrier##*:}"
expect pass SK_SKIP "$barrier"0
expect pass SK_LESS "$barrier" # no wait that could be lowered
expect fail SK_LESS "$wait"
expect fail SK_LESS "$parity"
