#!/bin/sh
# Installs what pip can not, where apt and root allow: bubblewrap; with the word "tests" also what only tests use,
# Chromium for the view and podman for containers. Without bubblewrap Hardwon still works, behind a thinner wall, and says
# so; without the others those tests are skipped.
install() {
    command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ] || return
    echo "installing $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq "$@" >/dev/null 2>&1 ||
        { apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq "$@" >/dev/null 2>&1; }
}
command -v bwrap >/dev/null 2>&1 || install bubblewrap
if [ "$1" = tests ]; then
    command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 ||
        command -v google-chrome >/dev/null 2>&1 || install chromium
    { command -v podman >/dev/null 2>&1 && command -v runc >/dev/null 2>&1; } || install podman runc
fi
command -v bwrap >/dev/null 2>&1 && exit 0
echo "warning: bubblewrap is not installed, programs will run behind a thinner wall; as root: apt-get install bubblewrap" >&2
exit 0
