import Foundation
import ItemFiles
import KeychainModel
import KeychainServices
import VaultInterface

extension Keychain {
    /// The people who can open a file of items: the holder of a private key, or those who know a passphrase.
    public struct Recipient: Sendable {
        enum Kind {
            case key(ItemRecipient)
            case passphrase(KeychainPasscode)
        }

        let kind: Kind

        /// The holder of the private half of a key on P-256, in a keychain or its enclave.
        ///
        /// - Parameter pem: The public key (`PUBLIC KEY`, as `keychain key public` and
        ///   `P256.KeyAgreement.PublicKey.pemRepresentation` are) or a certificate with it.
        /// - Throws: ``KeychainError/Code/invalidRequest`` for anything else.
        public init(pem: String) throws {
            kind = .key(try KeychainError.translating { try ItemRecipient(pem: pem) })
        }

        /// Everybody who knows the passphrase. Each try of one costs Argon2id with at least 256 MiB and three passes.
        public static func passphrase(_ passphrase: KeychainPasscode) -> Recipient {
            Recipient(kind: .passphrase(passphrase))
        }

        private init(kind: Kind) { self.kind = kind }
    }

    /// Returns a file with items of this keychain, which only the recipient can open.
    ///
    /// The items are in it with their values, attributes, dates, access group and access control. Reading them takes
    /// what reading their values takes: a person may be asked. `receive(_:passphrase:asNew:)` takes them in.
    ///
    /// ```swift
    /// let file = try keychain.send(["ada"], to: Keychain.Recipient(pem: herPublicKey))
    /// ```
    ///
    /// - Parameter accounts: The accounts; nil for all of the service or server.
    /// - Throws: ``KeychainError/Code/itemNotFound``, and ``KeychainError/Code/invalidRequest`` for items that are for
    ///   this device only; ``KeychainError/Code/tooLarge`` for more than 1,000 items or 32 MiB.
    public func send(_ accounts: [String]? = nil, to recipient: Recipient) throws -> Data {
        try BoundKeychain(keychain: self, session: .currentForKeychain()).send(accounts, to: recipient)
    }

    /// Returns the items in a file that `send(_:to:)` or `keychain send` made, with their values, and takes none in.
    ///
    /// - Parameter passphrase: The passphrase of the file; nil for a file to a private key, which must be in this
    ///   keychain's vault and in one of the program's groups. A person is asked if the key needs one.
    /// - Throws: ``KeychainError/Code/authenticationFailed`` for a wrong passphrase,
    ///   ``KeychainError/Code/damaged`` for a file that was changed, ``KeychainError/Code/itemNotFound`` if the key is
    ///   not there.
    public func items(in file: Data, passphrase: KeychainPasscode? = nil) throws -> [KeychainItem] {
        try BoundKeychain(keychain: self, session: .currentForKeychain()).opened(file, passphrase)
            .map { KeychainItem($0) }
    }

    /// Takes in the items of a file that `send(_:to:)` or `keychain send` made, all or none.
    ///
    /// They go to this keychain's access group, and keep their identifiers, dates and access control. Nothing in a file
    /// for a key says who made it: everybody who has the public key can. Therefore a file is refused that has items of
    /// another service or server.
    ///
    /// - Parameters:
    ///   - passphrase: As for `items(in:passphrase:)`.
    ///   - asNew: Whether the items get identifiers and dates of their own.
    /// - Returns: The items as they were stored, without their values.
    /// - Throws: As `items(in:passphrase:)`; ``KeychainError/Code/duplicateItem`` if one of the items is there
    ///   already, and ``KeychainError/Code/invalidRequest`` for items of another service or server.
    @discardableResult
    public func receive(
        _ file: Data, passphrase: KeychainPasscode? = nil, asNew: Bool = false
    ) throws -> [KeychainItem] {
        try BoundKeychain(keychain: self, session: .currentForKeychain()).receive(file, passphrase, asNew: asNew)
    }

    /// Returns a file with items of this keychain, which only the recipient can open. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public func send(_ accounts: [String]? = nil, to recipient: Recipient) async throws -> Data {
        try await inBackground { bound in try bound.send(accounts, to: recipient) }
    }

    /// Returns the items in a file, and takes none in. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public func items(in file: Data, passphrase: KeychainPasscode? = nil) async throws -> [KeychainItem] {
        try await inBackground { bound in try bound.opened(file, passphrase).map { KeychainItem($0) } }
    }

    /// Takes in the items of a file, all or none. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    @discardableResult
    public func receive(
        _ file: Data, passphrase: KeychainPasscode? = nil, asNew: Bool = false
    ) async throws -> [KeychainItem] {
        try await inBackground { bound in try bound.receive(file, passphrase, asNew: asNew) }
    }
}

extension BoundKeychain {
    func send(_ accounts: [String]?, to recipient: Keychain.Recipient) throws -> Data {
        let items = try accounts.map { try $0.map(itemToSend) } ?? allItemsToSend()
        return try KeychainError.translating {
            switch recipient.kind {
            case .key(let key): try ItemFile.seal(items, to: key)
            case .passphrase(let passphrase): try ItemFile.seal(items, under: ItemFile.keys(under: passphrase.secret))
            }
        }
    }

    private func itemToSend(_ account: String) throws -> StoredItem {
        guard let item = try item(account, includingValue: true) else { throw KeychainError(VaultError.itemNotFound) }
        return item
    }

    func opened(_ file: Data, _ passphrase: KeychainPasscode?) throws -> [StoredItem] {
        try KeychainError.translating {
            let file = try ItemFile(file)
            guard let passphrase else { return try session.items(in: file, asking: changeAuthentication) }
            return try file.items(openedWith: ItemFile.keys(under: passphrase.secret))
        }
    }

    func receive(_ file: Data, _ passphrase: KeychainPasscode?, asNew: Bool) throws -> [KeychainItem] {
        var items = try opened(file, passphrase)
        guard items.allSatisfy({ $0.itemClass == itemClass && KeychainItem($0).target == keychain.target }) else {
            throw KeychainError.invalidRequest(
                "the file has items of another service or server; receive it with a keychain of that one")
        }
        items = try KeychainError.translating {
            try session.receive(
                ReceiveItems(
                    items, accessGroup: accessGroup, keepsIdentity: !asNew, options: changeAuthentication))
        }
        return items.map { KeychainItem($0) }
    }
}

extension KeychainError {
    init(_ error: ItemFileError) {
        let (code, status): (Code, OSStatus) =
            switch error {
            case .refused(let refusal):
                (KeychainError(refusal).code, KeychainError(refusal).status)
            case .unreadable, .damaged, .undecipherable: (.damaged, errSecDecode)
            case .tooLarge: (.tooLarge, errSecDataTooLarge)
            case .wrongPassphrase: (.authenticationFailed, errSecAuthFailed)
            case .keyNotFound: (.itemNotFound, errSecItemNotFound)
            case .passphraseNeeded, .keyNeeded, .bound, .unsuitableRecipient: (.invalidRequest, errSecParam)
            case .keyFailed: (.unsupported, errSecInternalComponent)
            case .memoryUnavailable: (.outOfMemory, errSecAllocate)
            }
        self.init(code, status: status, message: error.description)
    }
}
