// Classes.swift
import Keychain

/// A token that a sync in the background needs, and that stays on this machine.
func store(token: String) throws {
    let sync = Keychain(service: "com.example.sync", accessibility: .afterFirstUnlockThisDeviceOnly)
    try sync.set(token, for: "token")
}

/// Gives items that an older version of the program stored the stricter class, and keeps their values.
func protectOlderItems() throws {
    let strict = Keychain(service: "com.example.mail", accessibility: .whenUnlocked)
    for item in try strict.items() where item.accessibility != strict.accessibility {
        try strict.protect(item.account)
    }
}
