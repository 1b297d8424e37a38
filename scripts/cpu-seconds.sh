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

# The shell that becomes the command enters the group first, so that every process it starts is in the group.
bash -c 'echo $$ > "$0/cgroup.procs" || exit 125; exec "$@"' "$group" "$@"
exit_code=$?
if ((exit_code == 125)); then
  rmdir "$group"
  echo "Cannot move a process to the cgroup $group." >&2
  exit 125
fi

echo "$(read_seconds) CPU seconds" >&2
rmdir "$group" || echo "Processes are still running: $(tr '\n' ' ' < "$group/cgroup.procs")" >&2
exit "$exit_code"
