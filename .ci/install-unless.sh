# Read by .ci/run, .ci/users and .ci/deploy.

# Installs packages of Debian, unless the first argument succeeds as a command. This needs root.
install_unless() {
  local present=$1
  shift
  if ! sh -c "$present" >/dev/null 2>&1 && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@"; } >&2 || true
  fi
}
