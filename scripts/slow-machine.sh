#!/usr/bin/env bash
# Runs the tests as on a slow machine: with 60 % of one core for six workers. A test that holds a limit of time
# falls here, and not some day at a stranger's. Where the kernel's groups cannot limit it, two busy loops take the
# rest.
#
#   bash scripts/slow-machine.sh               the short form, which CI runs
#   bash scripts/slow-machine.sh --all         everything: all of `npm test`, and the skills' own tests
#   bash scripts/slow-machine.sh FILE...       these tests
#
# Containers are started by Docker's daemon and are not slowed.
set -euo pipefail
cd "$(dirname "$0")/.."
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

# The short form leaves out what waits for nothing and nobody, so that no machine is too slow for it:
# computation without a clock (merges, composition, packages, bundles, pictures, laws on random input), crashes at
# counted system calls, SQL, the doctor, what a container may do, which is not slowed, and sequences of `claw`
# commands one after the other, which is most of test/engine and the pages of docs/. The story and the seams are the
# longest, and what they wait for shorter tests wait for too; the tests of the skills are run by `npm run matrix`. A
# file that no pattern names is in.
leftOut=(
  'src/engine/{cache,commands,compose,decisions,operation,package,state,structured}/**'
  'src/engine/merge/{checks,entries,lines,syntax}/**'
  'src/engine/merge/tests/!(*speed).test.ts'
  'src/engine/transaction/{crash,join}.test.ts'
  'src/engine/proof/npm/**'
  'src/cli/merge/**'
  'src/sandbox/agent/bundle.test.ts'
  'src/sandbox/tests/{beside,context-window,escape,hostile-agent,limits,programs-sandbox,rights,sandbox,tool-context}.test.ts'
  'src/doctor/**'
  'container/agent/{files,pictures}/**'
  'src/store/**'
  'src/host/changes/tests/{conflicts,update}.test.ts'
  'src/**/*-law*.test.ts'
  'test/engine/laws/**'
  'test/engine/*/!(interruption|resolve-agent|resolve-terminal|sources).test.ts'
  'test/{bench-merge,docs,import-rules,installed-check,merging-page,prepare,upstream-merges}.test.ts'
  'test/{seams,story}/**'
)

# Fails where a pattern names no test any more, as after a move: what it left out would run.
checkPatterns() (
  shopt -s extglob globstar nullglob
  local pattern each
  for pattern in "${leftOut[@]}"; do
    # Braces first, so that each of their words must name something.
    for each in $(set -o noglob && eval "echo $pattern"); do
      if ! compgen -G "$each" | grep -q . ; then
        echo "scripts/slow-machine.sh: no test is left out by $each. Say where those tests are now." >&2
        return 1
      fi
    done
  done
)

tests=(--no-isolate '--exclude=skills/**' '--exclude=**/*.long.test.ts')
skills=0
case "${1:-}" in
  '')
    checkPatterns
    for pattern in "${leftOut[@]}"; do tests+=("--exclude=$pattern"); done
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
