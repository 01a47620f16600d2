#!/usr/bin/env bash
# Compares the public API of the products with that of a version, and fails if a program that builds with it may not
# build with this one. A break that is meant stands in Scripts/release/breaks.txt, in the words of the comparison.
#
#   Scripts/release/api.sh VERSION [PRODUCT …]
set -euo pipefail
cd "$(dirname "$0")/../.."

former=${1:?'the first argument is the version to compare with, such as 0.2.0'}
shift
products=()
for product in "$@"; do products+=(--products "$product"); done
# In a folder of this name the package is its libraries alone, as for a program that depends on it. What the programs
# depend on beside them keeps the comparison from loading modules: TOMLKit describes its C module twice.
clone=.build-api/checkouts/swift-keychain
rm -rf "$clone"
git clone --quiet . "$clone"
cd "$clone"
swift package --enable-all-traits diagnose-api-breaking-changes "$former" "${products[@]}" \
    --breakage-allowlist-path Scripts/release/breaks.txt
