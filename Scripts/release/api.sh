#!/usr/bin/env bash
# Compares the public API of the products, as of the last commit, with that of a version. Fails if a program that builds
# with that version may not build with this one. A break that is meant stands in Scripts/release/breaks.txt, in the words
# of the comparison.
#
#   Scripts/release/api.sh VERSION [PRODUCT …]
set -euo pipefail
cd "$(dirname "$0")/../.."

former=${1:?'the first argument is the version to compare with, such as 0.2.0'}
shift
products=()
for product in "$@"; do products+=(--products "$product"); done
# In a folder with the name "checkouts", the manifest leaves out the programs and what only they need, as it does for a
# package that depends on this one. With TOMLKit, which describes its C module twice, the comparison loads no module.
clone=.build-api/checkouts/swift-keychain
rm -rf "$clone"
git clone --quiet . "$clone"
cd "$clone"
swift package --enable-all-traits diagnose-api-breaking-changes "$former" "${products[@]}" \
    --breakage-allowlist-path Scripts/release/breaks.txt
