# shellcheck shell=bash
# Shared by the scripts of this folder; sourced, never run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
repo=$PWD
export LC_ALL=C.UTF-8
boost_beside=$repo/build/boost-1.81  # where scripts/setup unpacks Boost when it cannot be installed

say() { printf '%s\n' "$*"; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Parallel compile jobs: one a processor, but at least 1 GiB of memory each (a SystemC test takes half of that under ASan).
parallel_jobs() {
  local cpus gib
  cpus=$(nproc)
  gib=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null || true)
  [ "${gib:-0}" -ge 1 ] || gib=1
  echo $((gib < cpus ? gib : cpus))
}

# Shows ninja's "[n/m]" as one moving line on a terminal, else as a line every quarter.
progress() {
  local label=$1 line shown=0 counter='^\[([0-9]+)/([0-9]+)\]' tty=no
  [ ! -t 1 ] || tty=yes
  while IFS= read -r line; do
    [[ $line =~ $counter ]] || continue
    if [ $tty = yes ]; then
      printf '\r\033[K%s: %d of %d' "$label" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
    elif [ $((4 * BASH_REMATCH[1] / BASH_REMATCH[2])) != "$shown" ]; then
      shown=$((4 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      say "$label: ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
    fi
  done
  [ $tty = no ] || printf '\r\033[K'
}

# logged LABEL LOG COMMAND...: runs COMMAND with its output in LOG; on failure shows the end of it and exits.
logged() {
  local label=$1 log=$2
  shift 2
  mkdir -p "$(dirname "$log")"
  if ! "$@" 2>&1 | tee "$log" | progress "$label"; then
    { grep -m 1 -A 20 -E 'error:|CMake Error|^FAILED' "$log" || tail -n 20 "$log"; } >&2
    fail "$label failed; the whole output is in ${log#"$repo"/}"
  fi
}

# configure PRESET LOG [cmake options]
configure() {
  local preset=$1 log=$2 options
  shift 2
  # What starts from a precompiled header is not cached, so it is the one or the other.
  options=("-DCMAKE_CXX_COMPILER_LAUNCHER=$(command -v ccache || true)")
  command -v ccache > /dev/null || options+=(-DTILEVP_PCH=ON)
  [ ! -d "$boost_beside" ] || options+=("-DBOOST_ROOT=$boost_beside/usr")
  logged configure "$log" cmake --preset "$preset" "${options[@]}" "$@"
}
