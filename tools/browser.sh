#!/usr/bin/env bash
# Installs Debian's headless Chromium for the tests of the page, which takes about 20 s. Does nothing if a Chromium is installed.
set -euo pipefail

for name in "${DWD_CHROMIUM:-}" chromium-headless-shell chromium chromium-browser google-chrome; do
  if [[ -n $name ]] && found=$(command -v "$name"); then
    echo "browser: $found"
    exit 0
  fi
done

if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
  echo 'browser: no Chromium here; install one (Debian: chromium-headless-shell), or set DWD_CHROMIUM to its path' >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends chromium-headless-shell fonts-dejavu-core >/dev/null
echo "browser: $(command -v chromium-headless-shell)"
