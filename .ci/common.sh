# Read by .ci/run, .ci/full and .ci/deploy.

# Under CI a test fails if a tool it needs is missing. Elsewhere it is skipped.
export CI=true

# tsc and the linter are written in Go. With its default of 100, they collect garbage for a sixth of their CPU time.
export GOGC=400

# `.ci/full` and `.ci/deploy` add `:full` and `:deploy`.
command=$(grep -xEm1 'npx -y pnpm@[0-9.]+ test' README.md) || {
  echo "$0: README.md has no line \`npx -y pnpm@<version> test\`" >&2
  exit 1
}

# Installs packages of Debian, unless the first argument succeeds as a command. This needs root.
install_unless() {
  local present=$1
  shift
  if ! sh -c "$present" >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"; } >&2 || true
  fi
}
