#!/usr/bin/env bash
# Builds the site of all products and guides, with what is missing for it. `make docs` runs it.
#
#   docs.sh [--base /PATH] [--source URL] [--output FOLDER]
set -euo pipefail
cd "$(dirname "$0")/../.."
Scripts/install/setup.sh --docs
. Scripts/check/checks.sh
echo 'docs: building the modules, whose symbols the site shows'
swift build "${flags[@]}" "${traits[@]}"
exec Scripts/docs/site.py "$@"
