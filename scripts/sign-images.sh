#!/bin/sh
# Pushes, signs and describes the image of each app of this repository that has no released version yet: <app>-<version>.tar and
# <app>-<version>.cdx.json of a folder. Refuses a folder with other archives. Needs jq, skopeo and cosign only, and these variables:
# PREFIX, the names of the images are $PREFIX/<app>, and GITHUB_SHA, the commit.
set -eu
folder=$1
names=$(jq --raw-output '(.name | sub("^@deedwire/"; "")) + "-" + .version' apps/*/package.json)

others=$(find "$folder" -name '*.tar' | sed 's|.*/||; s|\.tar$||' | grep -vxF "$names" || true)
if [ -n "$others" ]; then
  printf 'These archives are no images of apps, with the version of their package.json:\n%s\n' "$others" >&2
  exit 1
fi

for name in $names; do
  image="$PREFIX/${name%-*}"
  version=${name##*-}
  if skopeo inspect "docker://$image:$version" >/dev/null 2>&1; then continue; fi
  skopeo copy --digestfile "$folder/digest" "oci-archive:$folder/$name.tar" "docker://$image:commit-$GITHUB_SHA"
  signed="$image@$(cat "$folder/digest")"
  cosign sign --yes "$signed"
  cosign attest --yes --type cyclonedx --predicate "$folder/$name.cdx.json" "$signed"
  # Last, so that an interrupted run is repeated.
  skopeo copy "docker://$signed" "docker://$image:$version"
done
