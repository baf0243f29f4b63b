#!/usr/bin/env bash
# Runs the tests as on a slow machine: with 60 % of one core for six workers. A test that holds a limit of time
# falls here, and not some day at a stranger's. Where the kernel's groups cannot limit it, two busy loops take the
# rest.
#
#   bash scripts/slow-machine.sh               the short form, which CI runs
#   bash scripts/slow-machine.sh --list        the folders and files of the short form
#   bash scripts/slow-machine.sh --all         all tests but the long ones, and the skills' own tests
#   bash scripts/slow-machine.sh FILE...       these tests
#
# Containers are started by Docker's daemon and are not slowed.
set -euo pipefail
cd "$(dirname "$0")/.."

# The short form: processes that start each other, terminals and servers that are waited for. Everything else that
# waits does so in the same ways; `--all` runs it before a release.
waiting=(src/supervisor/ src/cli/system-service/ src/main.test.ts src/model/ src/host/tests/commands.slow.test.ts)
if [ "${1:-}" = --list ]; then printf '%s\n' "${waiting[@]}" && exit; fi

PATH="$PWD/node_modules/.bin:$PATH"
node scripts/prepare.js

core=0
# A loop that was forgotten ends by itself.
loopSeconds=5400

# Makes a group of processes that gets 60 of each 100 ms of one core, and prints its folder.
limitedGroup() {
  local group
  group="/sys/fs/cgroup/cpu/claw-slow-$$" # Version 1 of the kernel's interface.
  if mkdir "$group" 2>/dev/null; then
    if echo 60000 >"$group/cpu.cfs_quota_us"; then echo "$group" && return; fi
    rmdir "$group"
  fi
  group="/sys/fs/cgroup/claw-slow-$$" # Version 2.
  grep -qw cpu /sys/fs/cgroup/cgroup.subtree_control || return 1
  mkdir "$group" || return 1
  if echo '60000 100000' >"$group/cpu.max"; then echo "$group" && return; fi
  rmdir "$group"
  return 1
}

tests=(--no-isolate '--exclude=skills/**' '--exclude=**/*.long.test.ts')
skills=0
case "${1:-}" in
  '')
    for place in "${waiting[@]}"; do
      [ -e "$place" ] || { echo "scripts/slow-machine.sh: $place is gone. Say where its tests are now." >&2; exit 1; }
    done
    tests+=("${waiting[@]}")
    ;;
  --all) skills=1 ;;
  *) tests+=("$@") ;;
esac

started=()
group=$(limitedGroup 2>/dev/null) || group=""
end() {
  for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done
  # Not empty while a process that a test started is still ending.
  for _ in $(seq 50); do
    if [ -z "$group" ] || rmdir "$group" 2>/dev/null; then break; fi
    sleep 0.1
  done
}
trap end EXIT
trap 'exit 130' INT TERM

[ -n "$group" ] || for _ in 1 2; do
  (
    taskset -cp "$core" "$BASHPID" >/dev/null
    until=$((SECONDS + loopSeconds))
    while [ $SECONDS -lt $until ]; do :; done
  ) &
  started+=($!)
done

status=0
# What runs behind is waited for, so that a signal ends it at once, and not when it is done.
slowly() {
  (
    if [ -n "$group" ]; then
      echo "$BASHPID" >"$group/cgroup.procs"
      exec "$@"
    fi
    exec taskset -c "$core" "$@"
  ) &
  started+=($!)
  wait $! || status=$?
}
slowly vitest run "${tests[@]}"
# Each skill's own tests, alone and beside the others, where they wait for far ends of their own.
[ $skills = 0 ] || slowly node bin/claw.js matrix --release . --proof skills
exit "$status"
