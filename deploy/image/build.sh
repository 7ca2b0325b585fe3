#!/bin/sh
# Builds the image with the builder that is there: build.sh NAME PLATFORMS, as `build.sh example.org/dwd:1.0.0 linux/amd64,linux/arm64`
set -eu

name=$1
platforms=$2
cd "$(dirname "$0")/../.."

commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
if [ "$commit" != unknown ] && [ -n "$(git status --porcelain --untracked-files=no)" ]; then
  commit=$commit-dirty
fi
set -- --file deploy/image/Dockerfile --platform "$platforms" --build-arg "DWD_COMMIT=$commit"

# One image for one platform; for several, a list of images under one name.
case "$platforms" in
  *,*) several=--manifest ;;
  *) several=--tag ;;
esac

if ! command -v docker >/dev/null 2>&1; then
  docker='is not installed'
elif ! docker info >/dev/null 2>&1; then
  docker='is installed, but its daemon does not answer (docker info)'
else
  exec docker build "$@" --tag "$name" .
fi
for builder in podman buildah; do
  if command -v "$builder" >/dev/null 2>&1; then
    exec "$builder" build "$@" "$several" "$name" .
  fi
done
cat >&2 <<END
make image needs docker, podman or buildah, and none of them can be used here:
  docker   $docker
  podman   is not installed
  buildah  is not installed
\`make image-tree\` assembles what the image holds without any of them.
END
exit 1
