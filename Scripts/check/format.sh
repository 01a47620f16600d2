#!/usr/bin/env bash
# Formats every Swift file of the repository; with --check, only says what is wrong.
set -euo pipefail
cd "$(dirname "$0")/../.."

mapfile -d '' files < <(find . -name '.?*' -prune -o -name '*.swift' -print0 | sort -z)
if [[ ${1-} == --check ]]; then
    swift format lint --strict --parallel "${files[@]}"
    # The formatter wraps code and leaves comments as they are.
    if LC_ALL=C.UTF-8 grep -nP '^(?=\s*//).{121,}$' "${files[@]}"; then
        echo 'format: wrap these comments at 120 columns' >&2
        exit 1
    fi
    echo "format: ${#files[@]} files are as they should be"
else
    swift format --in-place --parallel "${files[@]}"
fi
