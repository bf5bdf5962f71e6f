#!/bin/bash
# Runs a compiler and reads what ptxas says: lines that ptxas only mentions, and that mean broken or slow kernels, fail
# the build. usage: ptxas_gate.sh COMPILER [ARGUMENT...]; the log is kept beside the object, as OBJECT.ptxas.
#   C7508  setmaxnreg is ignored             C7517  a wgmma wait is missing: ptxas puts one in, silently
#   C7519  a wgmma fence is missing: likewise        Potential Performance Loss: wgmma is serialised, and other such
set -euo pipefail

object=""
for ((i = 1; i < $#; i++)); do
  [ "${!i}" != -o ] || { next=$((i + 1)); object="${!next}"; }
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
rc=0
"$@" >"$log" 2>&1 || rc=$?
# Registers and the like are of interest in the log only.
grep -vE '^ptxas info  *: (Compil|Function properties|Used|[0-9]+ bytes)|^ +[0-9]+ bytes stack frame' "$log" >&2 || true
[ -z "$object" ] || cat "$log" >"$object.ptxas"
if grep -qE '\(C7508\)|\(C7517\)|\(C7519\)|Potential Performance Loss' "$log"; then
  echo "ptxas_gate: see the lines above; the emulator says more: kernels/README.md" >&2
  [ $rc != 0 ] || rc=1
fi
exit $rc
