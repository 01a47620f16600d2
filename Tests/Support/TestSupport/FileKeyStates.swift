import Access
import Bytes
import Foundation
import KeychainModel
import VaultInterface

/// The possible operations on file keys in each state of the vault, and a check of all of them.
package enum FileKeyState: String, CaseIterable, Sendable {
    case noPasscode, unlocked, lockedAfterUnlock, beforeFirstUnlock

    /// The classes whose file keys can be opened.
    package var opens: Set<FileProtectionClass> {
        switch self {
        case .noPasscode, .unlocked: [.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication, .none]
        case .lockedAfterUnlock: [.completeUntilFirstUserAuthentication, .none]
        case .beforeFirstUnlock: [.none]
        }
    }

    /// The classes whose file keys can be made.
    package var makes: Set<FileProtectionClass> {
        switch self {
        case .noPasscode, .unlocked: [.complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication, .none]
        case .lockedAfterUnlock: [.completeUnlessOpen, .completeUntilFirstUserAuthentication, .none]
        case .beforeFirstUnlock: [.completeUnlessOpen, .none]
        }
    }
}

/// A file key as a program keeps it.
package struct KeptFileKey: Sendable {
    package let fileClass: FileProtectionClass
    package let file: Data
    package var made: FileKey

    package init(_ fileClass: FileProtectionClass, made: FileKey, file: Data) {
        self.fileClass = fileClass
        self.file = file
        self.made = made
    }

    package static func make(
        _ fileClass: FileProtectionClass, in vault: any Vault, as client: Client
    ) throws(VaultError) -> KeptFileKey {
        let file = Data((0..<16).map { _ in UInt8.random(in: 0...255) })
        return KeptFileKey(
            fileClass, made: try vault.makeFileKey(for: fileClass, file: file, as: client), file: file)
    }

    package static func makeAll(in vault: any Vault, as client: Client) throws(VaultError) -> [KeptFileKey] {
        var keys: [KeptFileKey] = []
        for fileClass in FileProtectionClass.allCases { keys.append(try make(fileClass, in: vault, as: client)) }
        return keys
    }

    /// Returns whether the vault opens the wrapped key to the same key.
    package func opens(in vault: any Vault, as client: Client) throws(VaultError) -> Bool {
        try vault.fileKey(for: fileClass, file: file, wrapped: made.wrapped, as: client) == made.key
    }
}

extension Vault {
    /// Tries all operations on file keys.
    ///
    /// - Parameters:
    ///   - keys: One key of each class, made before.
    ///   - added: Gets the keys that are made or wrapped here. An unlocked vault opens them.
    /// - Returns: The differences from `state`, one line for each.
    package func differences(
        from state: FileKeyState, _ keys: [KeptFileKey], as client: Client, added: inout [KeptFileKey]
    ) -> [String] {
        var lines: [String] = []
        func check(_ what: String, isPossible: Bool, _ body: () throws(VaultError) -> Bool) {
            do throws(VaultError) {
                let isRight = try body()
                if !isPossible || !isRight {
                    lines.append("\(state): \(what) \(isRight ? "works" : "gives another key")")
                }
            } catch {
                if case .interactionNotAllowed = error, !isPossible { return }
                lines.append("\(state): \(what) fails: \(error)")
            }
        }
        for fileClass in FileProtectionClass.allCases {
            check("make \(fileClass)", isPossible: state.makes.contains(fileClass)) { () throws(VaultError) in
                let key = try KeptFileKey.make(fileClass, in: self, as: client)
                added.append(key)
                return key.made.key.count == 32
            }
        }
        for key in keys {
            let from = key.fileClass
            check("open \(from)", isPossible: state.opens.contains(from)) { () throws(VaultError) in
                try key.opens(in: self, as: client)
            }
            for to in FileProtectionClass.allCases {
                let isPossible = state.opens.contains(from) && state.makes.contains(to)
                check("wrap \(from) as \(to)", isPossible: isPossible) { () throws(VaultError) in
                    let wrapped = try rewrapFileKey(
                        from: from, to: to, file: key.file, wrapped: key.made.wrapped, as: client)
                    added.append(
                        KeptFileKey(to, made: FileKey(key: key.made.key, wrapped: wrapped), file: key.file))
                    return true
                }
            }
        }
        return lines
    }
}
