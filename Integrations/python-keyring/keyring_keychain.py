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

# Where programs that ask for a Secret Service have their items, and what keyring's own backend for it says of them: a
# password that one of the two stored is found and changed by the other.
GROUP = 'secret-service'
APPLICATION = 'Python keyring library'


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
        result = self._run('get', ['--no-newline', '--group', GROUP, *self._attributes(service, username)])
        if result.returncode not in (0, LOCKED):
            item = self._shared(service, username)
            name = ['--group', GROUP, '--', item['service'], item['account']] if item else ['--', service, username or '']
            result = self._run('get', ['--no-newline', *name])
        if result.returncode == NOT_FOUND:
            return None
        self._check(result, errors.KeyringError)
        return result.stdout.decode()

    def set_password(self, service, username, password):
        name = ['--', service, username or '']
        item = self._shared(service, username)
        if item:
            name = ['--group', GROUP, '--', item['service'], item['account']]
        elif self._run('info', name).returncode != 0:
            label = f"Password for '{username or ''}' on '{service}'"
            attributes = [*self._attributes(service, username), '--attribute', f'application={APPLICATION}']
            if self._set(['--group', GROUP, '--label', label, *attributes, *name], password).returncode == 0:
                return
            # This program may not use the group.
        self._check(self._set(name, password), errors.PasswordSetError)

    def delete_password(self, service, username):
        found = False
        # Another program may store the item again meanwhile.
        for _ in range(100):
            item = self._shared(service, username)
            if not item:
                break
            found = True
            result = self._run('delete', ['--yes', '--group', GROUP, '--', item['service'], item['account']])
            self._check(result, errors.PasswordDeleteError)
        result = self._run('delete', ['--yes', '--', service, username or ''])
        if not (found and result.returncode == NOT_FOUND):
            self._check(result, errors.PasswordDeleteError)

    def get_credential(self, service, username):
        if username is None:
            item = self._shared(service, any_user=True)
            if item:
                username = item['attributes'].get('username', '')
            else:
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
    def _attributes(service, username):
        return ['--attribute', f'service={service}', '--attribute', f'username={username or ""}']

    def _shared(self, service, username=None, any_user=False):
        """The item in the group of the Secret Service that changed last; None if there is none."""
        attributes = self._attributes(service, username)
        result = self._run('list', ['--json', '--group', GROUP, *(attributes[:2] if any_user else attributes)])
        if result.returncode == LOCKED:
            self._check(result, errors.KeyringError)
        items = json.loads(result.stdout) if result.returncode == 0 else []
        return max(items, key=lambda item: item['modified'], default=None)

    def _set(self, arguments, password):
        # A password is never an argument, because other users can see those.
        return self._run('set', ['--raw', '--allow-empty', *arguments], password.encode())

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
