// Session.swift
import Foundation
import Keychain

/// What the program keeps. One word, `KeychainValue`, makes a `Codable` type storable, as JSON.
struct Session: Codable, Equatable, KeychainValue {
    var token: String
    var expires: Date
}

/// The session of an account, in a place that all of the program's code shares.
struct SessionStore: Sendable {
    let keychain = Keychain(service: "com.example.mail", accessibility: .afterFirstUnlock)

    func save(_ session: Session, for account: String) async throws {
        try await keychain.set(session, for: account, attributes: .init(label: "Mail"))
    }

    /// Replaces a session only if it is still the one that was read. Of several programs, one wins.
    func renew(_ old: Session, with new: Session, for account: String) async throws -> Bool {
        try await keychain.replace(expecting: old, with: new, for: account)
    }

    /// Calls `body` with the present session, and with each one that any program stores later.
    func follow(_ account: String, _ body: (Session?) async -> Void) async throws {
        for try await session in keychain.values(Session.self, for: account) { await body(session) }
    }

    /// Calls `body` after each change of the vault, by this program or another.
    func refresh(_ body: ([String]) async -> Void) async throws {
        for await _ in try await keychain.changes {
            await body(try await keychain.items().map(\.account))
        }
    }
}
