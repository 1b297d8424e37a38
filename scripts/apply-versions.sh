#!/bin/sh
# Applies what `pnpm run version` has changed, a patch of a job that cannot write. Needs git only. Refuses a patch that changes anything
# but changesets, versions, changelogs, records of releases and the reference, because dependencies ran in that job.
set -eu
patch=$1
own='\.changeset/[^/]+\.md|(.+/)?(package\.json|CHANGELOG\.md)|packages/[^/]+/releases\.json|docs/reference/.+\.md|packages/contract-check/action/action\.yml'

git apply --index "$patch"
others=$(git diff --cached --no-renames --raw | grep -vE "^:(000000|100644) (000000|100644) \S+ \S+ [ADM]	($own)\$" || true)
if [ -n "$others" ]; then
  git reset --quiet --hard
  printf 'The patch changes what no release changes:\n%s\n' "$others" >&2
  exit 1
fi
