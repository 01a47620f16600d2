"""A backend of keyring that keeps passwords in the keychain, through the program `keychain`."""

import json
import os
import shutil
import subprocess

from keyring import credentials, errors
from keyring.backend import KeyringBackend

try:
    from keyring.compat import properties
except ImportError:  # keyring 23
    from jaraco.classes import properties

# The exit statuses that `keychain help` lists.
LOCKED, NOT_FOUND = 36, 44


def program():
    """The path of `keychain`; None if it is not installed.

    Another program has the same name. This one has a helper of git beside it.
    """
    helper = shutil.which('git-credential-keychain')
    path = helper and os.path.join(os.path.dirname(helper), 'keychain')
    return path if path and os.access(path, os.X_OK) else None


class Keyring(KeyringBackend):
    """Passwords in the keychain. A username of None is an empty account."""

    @properties.classproperty
    def priority(cls):
        if program() is None:
            raise RuntimeError('keychain is not installed: no git-credential-keychain is on the PATH')
        # Whoever installs this backend wants it more than those that come with keyring.
        return 9

    def get_password(self, service, username):
        result = self._run('get', ['--no-newline', '--', service, username or ''])
        if result.returncode == NOT_FOUND:
            return None
        self._check(result, errors.KeyringError)
        return result.stdout.decode()

    def set_password(self, service, username, password):
        # A password is never an argument, because other users can see those.
        result = self._run('set', ['--raw', '--allow-empty', '--', service, username or ''], password.encode())
        self._check(result, errors.PasswordSetError)

    def delete_password(self, service, username):
        self._check(self._run('delete', ['--', service, username or '']), errors.PasswordDeleteError)

    def get_credential(self, service, username):
        if username is None:
            result = self._run('list', ['--json', '--', service])
            if result.returncode == NOT_FOUND:
                return None
            self._check(result, errors.KeyringError)
            items = [item for item in json.loads(result.stdout) if item['service'] == service]
            if not items:
                return None
            username = items[0]['account']
        password = self.get_password(service, username)
        return None if password is None else credentials.SimpleCredential(username, password)

    @staticmethod
    def _run(command, arguments, stdin=None):
        path = program()
        if path is None:
            raise errors.KeyringError('keychain is not installed')
        # Without input of ours, the program may ask for the passcode at the terminal.
        return subprocess.run(
            [path, command, *arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    @staticmethod
    def _check(result, error):
        if result.returncode == 0:
            return
        reason = result.stderr.decode(errors='replace').strip()
        raise (errors.KeyringLocked if result.returncode == LOCKED else error)(reason)
