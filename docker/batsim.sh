#!/bin/sh
# One simulation by the Batsim in the image BATSIM_IMAGE: asks it for its version, then starts the profile of
# docker-compose.yml whose command line that version has. Further arguments are passed to "compose up".
set -eu

image=${BATSIM_IMAGE:-}
if [ -z "$image" ]; then
    echo "batsim.sh: BATSIM_IMAGE must name an image with Batsim, such as localhost/batsim:4" >&2
    exit 2
fi
if ! version=$(docker run --rm --network none --cap-drop ALL --entrypoint batsim "$image" --version); then
    echo "batsim.sh: image '$image': 'batsim --version' failed in it; BATSIM_IMAGE must name an image with batsim on its path" >&2
    exit 2
fi
case ${version#v} in
    4.0 | 4.0.*) profile= ;;
    4.*) profile=batsim ;;
    5.*) profile=batsim5 ;;
    *) profile= ;;
esac
if [ -z "$profile" ]; then
    echo "batsim.sh: image '$image': expected Batsim 4.1 or newer, below 6; its --version prints '$version'" >&2
    exit 2
fi
compose="docker compose"
$compose version >/dev/null 2>&1 || compose=docker-compose
exec $compose -f "$(dirname "$0")/docker-compose.yml" --profile "$profile" up --exit-code-from "$profile" "$@"
