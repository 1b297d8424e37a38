#!/usr/bin/env bash
# Usage, as root: scripts/cpu-seconds.sh <command>…
# Prints the CPU seconds of the command and of the processes that it left behind until it ended, which `time` does not count.
set -uo pipefail
if (($# == 0)); then
  echo "Usage: $0 <command>…" >&2
  exit 2
fi

if [[ -f /sys/fs/cgroup/cpuacct/cpuacct.usage ]]; then
  group=/sys/fs/cgroup/cpuacct/deedwire-$$
  read_seconds() { awk '{ printf "%.1f", $1 / 1e9 }' "$group/cpuacct.usage"; }
else
  group=/sys/fs/cgroup/deedwire-$$
  read_seconds() { awk '$1 == "usage_usec" { printf "%.1f", $2 / 1e6 }' "$group/cpu.stat"; }
fi
mkdir "$group" || exit

# This shell enters the group, so that every process that it starts is in the group, and leaves it before the group is removed.
if ! echo $$ > "$group/cgroup.procs"; then
  rmdir "$group"
  exit 1
fi
"$@"
exit_code=$?
echo "$(read_seconds) CPU seconds" >&2
echo $$ > "$(dirname "$group")/cgroup.procs"
rmdir "$group" || echo "Processes are still running: $(tr '\n' ' ' < "$group/cgroup.procs")" >&2
exit "$exit_code"
