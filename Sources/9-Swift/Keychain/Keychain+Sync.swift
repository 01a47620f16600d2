import Foundation
import ProcessVault
import VaultInterface

// The synchronous form of each operation. It blocks the calling thread until the vault answers, and also while the
// vault asks a person.
extension Keychain {
    /// The value of an account, or nil if there is no such item.
    ///
    /// ```swift
    /// let token = try keychain.get(String.self, for: "token")
    /// ```
    ///
    /// - Throws: ``KeychainError/Code/undecodableValue`` when the stored bytes are not a `Value`,
    ///   ``KeychainError/Code/interactionNotAllowed`` when the vault is locked for the item. Missing is
    ///   never confused with unreadable.
    public func get<Value: KeychainValue>(
        _ type: Value.Type = Value.self, for account: String
    ) throws -> Value? {
        try bound().get(account)
    }

    /// Stores a value for an account, in place of the one it had, in one step.
    ///
    /// There is no moment at which neither value is stored. An existing item keeps the attributes that
    /// are not given here and takes this keychain's ``accessibility`` and ``accessControl``. If it has an
    /// access control, a person is asked before it is replaced.
    ///
    /// ```swift
    /// try keychain.set("correct horse", for: "ada", attributes: .init(label: "Ada's mail"))
    /// ```
    ///
    /// - Throws: ``KeychainError``.
    public func set(
        _ value: some KeychainValue, for account: String, attributes: KeychainItem.Attributes = .init()
    ) throws {
        try bound().set(try value.keychainData(), account, attributes)
    }

    /// Removes the item of an account.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: ``KeychainError``.
    @discardableResult
    public func remove(_ account: String) throws -> Bool { try bound().remove(account) }

    /// Whether there is an item for an account. Asks nobody, and answers while the vault is locked.
    ///
    /// - Throws: ``KeychainError``.
    public func contains(_ account: String) throws -> Bool { try bound().contains(account) }

    /// Replaces the value of an account if it is the expected one: compare and swap.
    ///
    /// An existing item keeps its attributes and its protection; a new one gets this keychain's.
    ///
    /// ```swift
    /// // Only one of several processes wins the lease.
    /// let won = try keychain.replace(expecting: nil, with: processName, for: "lease")
    /// ```
    ///
    /// - Parameters:
    ///   - expected: The value the item must have; nil if there must be no item.
    ///   - new: The value to store; nil removes the item.
    /// - Returns: Whether the value was the expected one and has been replaced.
    /// - Throws: ``KeychainError``.
    public func replace<Value: KeychainValue & Equatable>(
        expecting expected: Value?, with new: Value?, for account: String
    ) throws -> Bool {
        try bound().replace(account, expecting: expected, with: new)
    }

    /// Reads a value, changes it and stores it as one atomic step.
    ///
    /// If another thread or process changes the item in between, `body` runs again on the newer value,
    /// so it should do nothing but compute. Setting the value to nil removes the item; leaving it as it
    /// is stores nothing.
    ///
    /// ```swift
    /// try keychain.update(Int.self, for: "launches") { $0 = ($0 ?? 0) + 1 }
    /// ```
    ///
    /// - Returns: The value that is stored now.
    /// - Throws: ``KeychainError/Code/busy`` when others change the item a thousand times in a row, and
    ///   what `body` throws, in which case nothing is stored.
    @discardableResult
    public func update<Value: KeychainValue>(
        _ type: Value.Type = Value.self, for account: String,
        _ body: (inout Value?) throws -> Void
    ) throws -> Value? {
        try bound().update(account, decidedBy: .vault, body)
    }

    /// Reads a value, changes it and stores it as one atomic step, which the vault or its circle decides.
    ///
    /// With ``Decider/circle``, no change of another machine is lost, and the call waits for the network:
    ///
    /// ```swift
    /// try keychain.update(Int.self, for: "launches", decidedBy: .circle) { $0 = ($0 ?? 0) + 1 }
    /// ```
    ///
    /// If another machine changes the item first, `body` runs again on the newer value. If `body` leaves the value as
    /// it is, nobody is asked, and another machine may have a newer one.
    ///
    /// - Parameter decider: Who decides which of two changes comes first.
    /// - Returns: The value that is stored now.
    /// - Throws: What `update(_:for:_:)` throws. ``KeychainError/Code/circleUnavailable``, with the status
    ///   `errSecNotAvailable`, if the circle meets in no etcd, if the item does not travel, and if etcd did not decide
    ///   within 10 seconds. In the last case the change is taken back. If it was on its way already, it may still come
    ///   into force, as with any commit whose answer was lost.
    @discardableResult
    public func update<Value: KeychainValue>(
        _ type: Value.Type = Value.self, for account: String, decidedBy decider: Decider,
        _ body: (inout Value?) throws -> Void
    ) throws -> Value? {
        try bound().update(account, decidedBy: decider, body)
    }

    /// The item of an account without its value, or nil if there is none.
    ///
    /// - Throws: ``KeychainError``.
    public func item(for account: String) throws -> KeychainItem? {
        try bound().item(account, includingValue: false).map { KeychainItem($0) }
    }

    /// The items of the service or server, sorted by account.
    ///
    /// - Parameter includingValues: Whether to read the values too, which takes longer and may ask a
    ///   person. With an ``interaction`` of `skipped`, items that need a person are left out.
    /// - Throws: ``KeychainError``.
    public func items(includingValues: Bool = false) throws -> [KeychainItem] {
        try bound().items(includingValues: includingValues)
    }

    /// The items of the service or server that have all these custom attributes, among others, sorted by account.
    ///
    /// - Parameters:
    ///   - custom: Names and values, compared exactly.
    ///   - includingValues: As for `items(includingValues:)`.
    /// - Throws: ``KeychainError``.
    public func items(withCustom custom: [String: String], includingValues: Bool = false) throws -> [KeychainItem] {
        try bound().items(withCustom: custom, includingValues: includingValues)
    }

    /// Changes the given attributes of an item and nothing else.
    ///
    /// - Throws: ``KeychainError/Code/itemNotFound`` when there is no such item.
    public func setAttributes(
        _ attributes: KeychainItem.Attributes, for account: String
    ) throws {
        try bound().setAttributes(account, attributes)
    }

    /// Gives an item another account, keeping its value, in one step.
    ///
    /// - Throws: ``KeychainError/Code/itemNotFound`` when there is no such item, ``KeychainError/Code/duplicateItem``
    ///   when the other account has one.
    public func rename(_ account: String, to newAccount: String) throws {
        try bound().rename(account, to: newAccount)
    }

    /// Gives an existing item this keychain's ``accessibility`` and ``accessControl``, keeping its value.
    ///
    /// ```swift
    /// var strict = keychain
    /// strict.accessibility = .whenUnlockedThisDeviceOnly
    /// try strict.protect("token")
    /// ```
    ///
    /// - Throws: ``KeychainError/Code/itemNotFound`` when there is no such item.
    public func protect(_ account: String) throws { try bound().protect(account) }

    /// Removes every item of the service or server, as on sign-out.
    ///
    /// Removing needs no passcode and no person, and works while the vault is locked.
    ///
    /// - Returns: How many items there were.
    /// - Throws: ``KeychainError``.
    @discardableResult
    public func removeAll() throws -> Int { try bound().removeAll() }

    private func bound() throws -> BoundKeychain {
        BoundKeychain(keychain: self, session: try .currentForKeychain())
    }
}

extension VaultSession {
    static func currentForKeychain() throws -> VaultSession {
        try KeychainError.translating { try VaultSession.current() }
    }
}
