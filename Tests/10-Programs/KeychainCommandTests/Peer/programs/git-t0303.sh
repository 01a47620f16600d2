#!/usr/bin/env bash
# git's own test of credential helpers, t0303, with git-credential-keychain. It comes from the source package of git.
. "$(dirname "$0")/lib.sh"
takes embedded socket
needs git command -v git
needs perl command -v perl
needs dpkg-dev command -v dpkg-source
needs 'git-credential-keychain (this package)' command -v git-credential-keychain
begin

mkdir fetched
if ! (cd fetched && apt-get source git) >fetch.log 2>&1; then
    cat fetch.log
    echo 'missing: the source package of git. The lists of apt need deb-src lines; Scripts/install/setup.sh --peers adds them.'
    exit 1
fi
source=$(find fetched -maxdepth 1 -type d -name 'git-*')
mkdir suite
cp -r "$source/t" suite/t
# The tests run with the git of the system, so nothing is built. These files of a build are what they ask for.
mkdir -p suite/templates/blt suite/t/helper
cat >suite/GIT-BUILD-OPTIONS <<'END'
SHELL_PATH='/bin/sh'
PERL_PATH='/usr/bin/perl'
PYTHON_PATH='/usr/bin/python3'
TEST_SHELL_PATH='/bin/sh'
DIFF='diff'
NO_PERL=''
NO_PYTHON=''
NO_GETTEXT=''
X=''
END
cat >suite/t/helper/test-tool <<'END'
#!/bin/sh
# Answers the questions that git's test library has before the first test.
case "$1 ${2-}" in
"path-utils file-size") stat -c %s "$3" ;;
path-utils*) echo "${3-}" ;;
date*) echo GOOD ;;
esac
exit 0
END
chmod +x suite/t/helper/test-tool

open_vault
[[ $place != embedded ]] || keychain init >/dev/null
cd suite/t || exit 1
export GIT_TEST_INSTALLED=/usr/bin GIT_TEST_CREDENTIAL_HELPER=keychain
timeout 600 sh ./t0303-credential-external.sh -v >"$work/t0303.log" 2>&1
check 'status of t0303' $? 0
check 'no test fails' "$(grep -c '^not ok' "$work/t0303.log")" 0
# A suite that skips everything, as it does without a helper, has no such lines.
passed=$(grep -c '^ok .*helper (keychain)' "$work/t0303.log")
check 'the tests ran with our helper' "$((passed >= 10))" 1
echo "t0303: $passed tests passed with the helper"
finish
