#!/bin/sh
# Installs bubblewrap where apt and root allow. Without it Hardwon still works, behind a thinner wall, and says so.
command -v bwrap >/dev/null 2>&1 && exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "installing bubblewrap"
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq bubblewrap >/dev/null 2>&1 ||
        { apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq bubblewrap >/dev/null 2>&1; }
fi
command -v bwrap >/dev/null 2>&1 && exit 0
echo "warning: bubblewrap is not installed, programs will run behind a thinner wall; as root: apt-get install bubblewrap" >&2
exit 0
