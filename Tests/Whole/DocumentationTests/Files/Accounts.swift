// Accounts.swift
import Credentials

/// The accounts of a server. A real one keeps the hashes in its database.
actor Accounts {
    private let hasher = PasswordHasher()
    private var hashes: [String: String] = [:]

    func register(_ account: String, password typed: String) async throws {
        hashes[account] = try await hasher.hash(SignInPassword(typed))  // $argon2id$v=19$m=65536,t=3,p=1$…$…
    }

    /// Returns whether the password is right. A wrong one and an unknown account take the same time.
    func check(_ account: String, password typed: String) async throws -> Bool {
        let answer = try await hasher.verify(SignInPassword(typed), against: hashes[account])
        if let newHash = answer.newHash { hashes[account] = newHash }
        return answer.isCorrect
    }
}
