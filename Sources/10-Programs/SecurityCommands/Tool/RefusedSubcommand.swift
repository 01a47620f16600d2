/// A subcommand of macOS that has no meaning here, with the reason.
enum RefusedSubcommand {
    /// In the order of the alphabet.
    static let all: [(name: String, reason: String)] = [
        ("authorizationdb", "there is no authorization database here: see polkit"),
        ("authorize", "there is no Authorization Services here: see pkexec of polkit"),
        ("create-db", "databases of CSSM do not exist here: create-keychain makes a keychain"),
        ("create-filevaultmaster-keychain", "there is no FileVault here: see LUKS and `keychain file`"),
        ("create-key-loop", "this is a test of macOS"),
        ("create-csr", "use `keychain key csr`, which signs with keys of the enclave, too"),
        ("create-keypair", "use `keychain key create`, which makes keys in the enclave, too"),
        ("execute-with-privileges", "there is no Authorization Services here: see pkexec of polkit"),
        ("export-smartcard", "smart cards are not part of the keychain here: see pkcs11-tool of OpenSC"),
        ("filevault", "there is no FileVault here: see LUKS and `keychain file`"),
        ("find-key", "use `keychain key list`"),
        ("get-identity-preference", "programs of Linux ask for no preferred identity"),
        ("install-mds", "there are no CSSM modules here"),
        ("leaks", "use valgrind"),
        ("list-smartcards", "smart cards are not part of the keychain here: see pkcs11-tool of OpenSC"),
        ("platformsso", "there is no Platform SSO here"),
        ("recode-keychain", "use `keychain rekey`, which replaces all keys of a vault"),
        ("requirement-evaluate", "there are no code requirements here: the daemon tells programs apart by their files"),
        ("set-identity-preference", "programs of Linux ask for no preferred identity"),
        ("smartcards", "smart cards are not part of the keychain here: see pkcs11-tool of OpenSC"),
        ("translocate-original-path", "Linux does not translocate programs"),
        ("translocate-policy-check", "Linux does not translocate programs"),
        ("translocate-status-check", "Linux does not translocate programs"),
        ("trust-settings-export", "use dump-trust-settings, and add-trusted-cert where the certificates are needed"),
        ("trust-settings-import", "use add-trusted-cert for each certificate"),
        ("user-trust-settings-enable", "the trust settings of the user always count here"),
        ("wait-for-notifications", "use `keychain watch`"),
    ]
}
