"""keyring's own tests of a backend, with the keychain."""

import keyring
import pytest
from keyring.testing.backend import BackendBasicTests

import keyring_keychain


class TestKeychain(BackendBasicTests):
    def init_keyring(self):
        return keyring_keychain.Keyring()

    def test_any_account(self, keyring=keyring_keychain.Keyring()):
        assert keyring.get_credential('nobody', None) is None
        self.set_password('service', '-a', 'one')
        found = keyring.get_credential('service', None)
        assert (found.username, found.password) == ('-a', 'one')

    def test_bytes_stay(self):
        self.set_password('service', 'lines', 'one\ntwo\n')
        assert self.keyring.get_password('service', 'lines') == 'one\ntwo\n'

    def test_is_missing_without_the_program(self, monkeypatch):
        monkeypatch.setenv('PATH', '/nonexistent')
        with pytest.raises(RuntimeError):
            keyring_keychain.Keyring.priority
