// Bank.swift
import Keychain

/// Reads several items that require a person, and asks once.
func balances(of accounts: [String]) async throws -> [String: Int] {
    let context = Keychain.AuthenticationContext()
    try await context.authenticate(for: .userPresence, reason: "Show your accounts")

    var bank = Keychain(service: "com.example.bank", accessControl: .userPresence)
    bank.authenticationContext = context
    var found: [String: Int] = [:]
    for account in accounts { found[account] = try await bank.get(Int.self, for: account) }
    return found
}
