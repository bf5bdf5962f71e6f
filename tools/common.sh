# Shared by the scripts of tools/ and .ci/run; sourced, never run. Leaves the caller in the repository's root.
# shellcheck shell=bash
set -euo pipefail
export LC_ALL=C.UTF-8
script_path=$(realpath "$0")
script=${0##*/}
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s: %s\n' "$script" "$*"; }
fail() { # fail WHY [WHAT TO DO]: one line each, then exit 1
  printf '%s: failed: %s\n' "$script" "$1" >&2
  [ $# -lt 2 ] || printf '%s: %s\n' "$script" "$2" >&2
  exit 1
}
usage() { # prints the comment that heads the calling script
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$script_path"
}

# Bytes of memory that this process may use: what is available, or less where a control group says so.
memory_bytes() {
  local bytes limit file
  bytes=$(awk '/^MemAvailable:/ {printf "%.0f", $2 * 1024}' /proc/meminfo)
  for file in /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; do
    limit=$(cat "$file" 2>/dev/null) || continue
    [[ $limit =~ ^[0-9]+$ ]] && [ "${#limit}" -lt 19 ] && [ "$limit" -lt "$bytes" ] && bytes=$limit
  done
  printf '%s\n' "$bytes"
}
# How many compilers or tests to run at once: one a core, and no more than fit at 1.5 GiB each.
job_count() {
  local cores fit
  cores=$(nproc)
  fit=$(($(memory_bytes) / (1536 * 1024 * 1024)))
  [ "$fit" -ge "$cores" ] || cores=$fit
  [ "$cores" -ge 1 ] || cores=1
  printf '%s\n' "$cores"
}
