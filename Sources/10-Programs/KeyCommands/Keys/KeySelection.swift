import Access
import ArgumentParser
import CommandKit
import KeyCryptography
import KeychainModel
import ProcessVault
import StatusCodes
import VaultInterface
import VaultKeys

/// Chooses the key that a command is about.
struct KeySelection: ParsableArguments {
    @Argument(
        help: "The key's label, its application tag, or the first 8 or more digits of its hash.", completion: .keys)
    var key: String

    @Option(help: ArgumentHelp("Only keys of this access group.", valueName: "group"), completion: .groups)
    var group: String?

    /// Returns the one key that is meant. Asks for no person.
    ///
    /// - Parameter includingSecretKeys: Whether it may be a key of AES or HMAC.
    func one(in session: KeyCommandSession, includingSecretKeys: Bool = false) throws -> KeyPair {
        var inventory = try session.inventory(group, includingSecretKeys: includingSecretKeys)
        if inventory.pairs(named: key).isEmpty, inventory.isLocked {
            inventory = try session.unlockedInventory(group, includingSecretKeys: includingSecretKeys)
        }
        return try NamedChoice(kind: "key", list: "key list", digits: "hash")
            .one(of: inventory.pairs(named: key), named: key) { ($0.hexadecimalHash, $0.group) }
    }
}

/// The vault of a command about keys, in which it finds and uses them.
package struct KeyCommandSession {
    /// Asks for the passcode when it meets locked items.
    package let session: VaultSession
    /// Does not ask for the passcode.
    private let base: VaultSession

    /// For a command that reads keys or uses them. If there is no vault, none is made.
    static func forLooking(
        _ passcode: PasscodeInput? = nil, prompt: (any PasscodePrompt)? = nil
    ) throws -> KeyCommandSession {
        KeyCommandSession(try .ofOwnerInPresentVault(passcode, prompt: prompt))
    }

    static func forWriting(_ passcode: PasscodeInput? = nil) throws -> KeyCommandSession {
        KeyCommandSession(try .ofOwner(passcode))
    }

    package init(_ session: VaultSession) {
        self.session = session
        base = session.withoutUnlocking
    }

    func status() throws -> VaultStatus { try base.perform(ReadStatus()) }

    /// The keys that can be seen with the vault as it is.
    package func inventory(_ group: String? = nil, includingSecretKeys: Bool = false) throws -> KeyInventory {
        try KeyInventory(of: base, group: group, includingSecretKeys: includingSecretKeys)
    }

    /// The keys that can be seen with the vault unlocked, for which the passcode may be asked.
    package func unlockedInventory(_ group: String? = nil, includingSecretKeys: Bool = false) throws -> KeyInventory {
        try KeyInventory(of: session, group: group, includingSecretKeys: includingSecretKeys)
    }

    /// Returns the private key of a pair, and asks for a person if the key requires it.
    ///
    /// - Parameter options: How to ask, now and when the key is used.
    package func privateKey(of pair: KeyPair, _ options: AuthenticationOptions) throws -> VaultKey {
        guard pair.hasPrivateHalf else {
            throw Failure(
                status: errSecItemNotFound,
                "only the public half of the key '\(pair.name)' is here: it can verify and encrypt, and nothing else")
        }
        guard pair.postQuantum == nil else {
            throw Failure(
                status: errSecParam,
                "keys of type \(pair.typeName) are used by programs that load the PKCS #11 module: `keychain key uri` "
                    + "prints what they take")
        }
        let query = ItemQuery(
            itemClass: .key, attributes: [.keyClass: .number(1), .applicationLabel: .data(pair.hash)],
            accessGroup: pair.group, synchronizable: .any, authentication: options)
        let found = try session.perform(CopyItems(query, includingValues: true))
        guard let item = found.first, let key = VaultKey.stored(in: item, use: KeyUse(authentication: options)) else {
            throw Failure(
                status: errSecDecode,
                "the item '\(pair.name)' holds no private key that can be used here: delete it, or use it where it "
                    + "came from")
        }
        return key
    }

    /// Returns the public key of a pair. The private key is read only if nothing else tells it.
    func publicKey(of pair: KeyPair, _ options: AuthenticationOptions = .init()) throws -> VaultKey {
        if let key = pair.publicKey { return key }
        return try privateKey(of: pair, options).publicKey
    }

    /// Runs an operation of a key in this session, and returns its result.
    func result<Value>(_ operation: () throws -> Value) throws -> Value {
        try session.asCurrent(operation)
    }
}

extension Failure {
    /// What went wrong with a key.
    init(_ error: KeyError) {
        if case .refused(VaultError.itemPasswordMissing) = error {
            self = .itemPasswordMissing
        } else {
            self.init(status: error.osStatus, Self.inOneStyle(error.description))
        }
    }

    /// Returns a sentence of a library in the style of the commands' messages.
    private static func inOneStyle(_ sentence: String) -> String {
        let text = sentence.hasSuffix(".") ? sentence.dropLast() : sentence[...]
        let isWord = text.dropFirst().first?.isLowercase ?? false
        return (isWord || text.hasPrefix("A ") ? text.prefix(1).lowercased() : String(text.prefix(1)))
            + text.dropFirst()
    }
}

extension KeyError: ReportedError {
    package var failure: Failure { Failure(self) }
}
