#!/usr/bin/env bash
# Makes the files of a release in dist/VERSION, and prints the tag to push. It pushes and tags nothing. Run it as root,
# which the container image needs.
#
#   Scripts/release/release.sh            everything, with `make test` before
#   Scripts/release/release.sh --tested   for a commit that `make test` has passed already
#
# RELEASE_KEY names the key that signs the sums, in the keychain of whoever makes the release: by default
# "swift-keychain release". Make it once, in the enclave:
#
#   keychain key create 'swift-keychain release' --enclave
#   keychain key public 'swift-keychain release' > Packaging/release-key.pem     and commit that
set -euo pipefail
cd "$(dirname "$0")/../.."

step() { printf '\n==> %s\n' "$1"; }
fail() {
    printf 'release: %s\n' "$1" >&2
    exit 1
}

key=${RELEASE_KEY:-swift-keychain release}
keychain=${RELEASE_KEYCHAIN:-keychain}
public=Packaging/release-key.pem
((EUID == 0)) || fail 'run this as root: the container image needs it'
python3 -c 'import ensurepip, venv' 2>/dev/null || fail "the list of parts needs Python's venv: apt-get install python3-venv"
version=$(Scripts/install/version.sh)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "'$version' in DaemonProgram.swift is no version"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

step "Checking that $version can be made"
[[ -z $(git status --porcelain) ]] || fail 'there are uncommitted changes: commit or remove them'
git rev-parse --quiet --verify "refs/tags/$version" >/dev/null && fail "the tag $version exists: raise the version"
notes=$(awk -v version="$version" '/^## / { inside = $2 == version; next } inside' CHANGELOG.md)
[[ -n ${notes//[$'\n ']/} ]] || fail "CHANGELOG.md has nothing about $version"
# The versions before are tags like 0.2.0.
former=$(git tag --list --sort=-version:refname | grep -E '^[0-9]+\.[0-9]+\.[0-9]+$' | head -n 1 || true)
if [[ -n $former ]]; then
    [[ $(printf '%s\n' "$former" "$version" | sort -V | tail -n 1) == "$version" ]] ||
        fail "$version is not above $former, the newest tag"
fi
# Before an hour of building: without the key there will be no release.
"$keychain" key public "$key" >/dev/null || fail "the keychain has no key '$key': the head of this script says how to make it"
[[ -f $public ]] || fail "$public is missing: nobody could check the signature. The head of this script says how to make it"
cmp -s <("$keychain" key public "$key") "$public" || fail "$public is not the public half of the key '$key'"
kept=$("$keychain" key info "$key" --json)
[[ $kept == *'"kept":"tpm2"'* || $kept == *'"kept":"software enclave"'* ]] || fail "the key '$key' is not in an enclave"

if [[ -n $former ]]; then
    step "Comparing the public API with that of $former"
    Scripts/release/api.sh "$former"
else
    step 'There is no version before this one to compare the public API with'
fi
if [[ ${1-} != --tested ]]; then
    step 'Running all checks'
    make test
fi

step 'Trying the commit as others will get it'
Scripts/release/consumer.sh

folder=dist/$version
rm -rf "$folder"
mkdir -p "$folder"
step 'Building the package, the image and the documentation'
# Makes the package, too. The folder may have those of former versions.
make image
cp .build-packages/swift-keychain{,-network}_"${version}_$(dpkg --print-architecture)".deb \
    ".build-packages/keychain-$version.docker.tar" "$folder/"
make docs
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C .build-docs -cf - site |
    gzip -n >"$folder/swift-keychain-$version-documentation.tar.gz"
git archive --format=tar --prefix="swift-keychain-$version/" HEAD | gzip -n >"$folder/swift-keychain-$version.tar.gz"

step 'Listing what the programs are made of'
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
python3 -m venv "$tools"
"$tools/bin/pip" --quiet install 'cyclonedx-python-lib[json-validation]==11.12.0'
read -ra release < <(Scripts/install/release-flags.sh)
built=$(swift build "${release[@]}" --show-bin-path)
Scripts/install/pkcs11.sh "$built" "$tools/module.so"
"$tools/bin/python" Scripts/release/sbom.py "$version" "$built/keychain" "$tools/module.so" \
    "$folder/swift-keychain-$version.cdx.json"

step 'Signing the sums'
(cd "$folder" && sha256sum -- * >SHA256SUMS)
"$keychain" key sign "$key" <"$folder/SHA256SUMS" >"$folder/SHA256SUMS.sig"
openssl dgst -sha256 -verify "$public" -signature "$folder/SHA256SUMS.sig" "$folder/SHA256SUMS" ||
    fail 'the signature is not one of the published key'
{
    printf '# swift-keychain %s\n%s\n\n## Sums\n\n' "$version" "$notes"
    sed 's/^/    /' "$folder/SHA256SUMS"
    printf '\nTo check them: `openssl dgst -sha256 -verify release-key.pem -signature SHA256SUMS.sig SHA256SUMS`, with\n'
    printf '[release-key.pem](Packaging/release-key.pem) of this repository, and then `sha256sum --check SHA256SUMS`.\n'
} >"$folder/NOTES.md"

printf '\nrelease: %s is in %s\n\n' "$version" "$folder"
ls -l "$folder"
cat <<END

To publish it:

    git tag --annotate $version --message 'swift-keychain $version'
    git push origin $version
END
