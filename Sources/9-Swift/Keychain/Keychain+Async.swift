import Foundation
import ProcessVault
import VaultInterface

// The asynchronous form of each operation, on threads of this module's own. A task that is canceled
// before its operation begins gets `taskCanceled` and nothing is done; one that has begun is finished.
extension Keychain {
    /// The value of an account, or nil if there is no such item. The task waits, its thread does not.
    ///
    /// ```swift
    /// let token = try await keychain.get(String.self, for: "token")
    /// ```
    ///
    /// - Throws: As the synchronous form, and ``KeychainError/Code/taskCanceled``.
    public func get<Value: KeychainValue>(
        _ type: Value.Type = Value.self, for account: String
    ) async throws -> Value? {
        try await inBackground { bound in try bound.get(account) }
    }

    /// Stores a value for an account, in place of the one it had, in one step. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public func set(
        _ value: some KeychainValue, for account: String, attributes: KeychainItem.Attributes = .init()
    ) async throws {
        let data = try value.keychainData()
        try await inBackground { bound in try bound.set(data, account, attributes) }
    }

    /// Removes the item of an account.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: ``KeychainError``.
    @discardableResult
    public func remove(_ account: String) async throws -> Bool {
        try await inBackground { bound in try bound.remove(account) }
    }

    /// Whether there is an item for an account. Asks nobody, and answers while the vault is locked.
    ///
    /// - Throws: ``KeychainError``.
    public func contains(_ account: String) async throws -> Bool {
        try await inBackground { bound in try bound.contains(account) }
    }

    /// Replaces the value of an account if it is the expected one: compare and swap. See the synchronous
    /// form.
    ///
    /// - Throws: ``KeychainError``.
    public func replace<Value: KeychainValue & Equatable>(
        expecting expected: Value?, with new: Value?, for account: String
    ) async throws -> Bool {
        try await inBackground { bound in
            try bound.replace(account, expecting: expected, with: new)
        }
    }

    /// Reads a value, changes it and stores it as one atomic step. See the synchronous form.
    ///
    /// `body` runs where the caller runs, and again when another thread or process changed the item in
    /// the meantime.
    ///
    /// ```swift
    /// try await keychain.update(Int.self, for: "launches") { $0 = ($0 ?? 0) + 1 }
    /// ```
    ///
    /// - Returns: The value that is stored now.
    /// - Throws: ``KeychainError``.
    @discardableResult
    public nonisolated(nonsending) func update<Value: KeychainValue>(
        _ type: Value.Type = Value.self, for account: String,
        _ body: (inout Value?) throws -> Void
    ) async throws -> Value? {
        try await refresh(type, for: account) { value in try body(&value) }
    }

    /// Reads a value, changes it and stores it as one atomic step, which the vault or its circle decides. See the
    /// synchronous form. The task waits for the circle, its thread does not.
    ///
    /// - Returns: The value that is stored now.
    /// - Throws: ``KeychainError``. A task that is canceled while the circle decides gets
    ///   ``KeychainError/Code/taskCanceled``, and the change is taken back as after the time.
    @discardableResult
    public nonisolated(nonsending) func update<Value: KeychainValue>(
        _ type: Value.Type = Value.self, for account: String, decidedBy decider: Decider,
        _ body: (inout Value?) throws -> Void
    ) async throws -> Value? {
        try await refresh(type, for: account, decidedBy: decider) { value in try body(&value) }
    }

    /// Reads a value, makes a newer one of it, which may take a while, and stores that as one atomic
    /// step.
    ///
    /// This is `update(_:for:_:)` for a change that has to wait, such as for a server. It runs where
    /// the caller runs; nothing is locked in the meantime, so it runs again when another thread or
    /// process changed the item, and must bear repeating.
    ///
    /// ```swift
    /// try await keychain.refresh(Session.self, for: "session") { session in
    ///     session = await server.renew(session)
    /// }
    /// ```
    ///
    /// - Returns: The value that is stored now.
    /// - Throws: ``KeychainError/Code/busy`` when others change the item a thousand times in a row, and
    ///   what `body` throws, in which case nothing is stored.
    @discardableResult
    public nonisolated(nonsending) func refresh<Value: KeychainValue>(
        _ type: Value.Type = Value.self, for account: String,
        _ body: (inout Value?) async throws -> Void
    ) async throws -> Value? {
        try await refresh(type, for: account, decidedBy: .vault, body)
    }

    /// Reads a value, makes a newer one of it, and stores that as one atomic step. The vault or its circle decides.
    ///
    /// `refresh(_:for:_:)` with the choice of who decides; see ``Decider``.
    ///
    /// - Returns: The value that is stored now.
    /// - Throws: What `update(_:for:decidedBy:_:)` and `body` throw.
    @discardableResult
    public nonisolated(nonsending) func refresh<Value: KeychainValue>(
        _ type: Value.Type = Value.self, for account: String, decidedBy decider: Decider,
        _ body: (inout Value?) async throws -> Void
    ) async throws -> Value? {
        for _ in 0..<BoundKeychain.updateAttempts {
            let present = try await inBackground { bound in
                try bound.dataForChange(account)
            }
            var value = try present.map { data in try Value(keychainData: data) }
            try await body(&value)
            let new = try value?.keychainData()
            if new == present { return value }
            let replaced =
                switch decider {
                case .vault:
                    try await inBackground { bound in try bound.exchange(account, expecting: present, with: new) }
                case .circle: try await exchangeInCircle(account, expecting: present, with: new)
                }
            if replaced { return value }
        }
        throw KeychainError.contended
    }

    /// The item of an account without its value, or nil if there is none.
    ///
    /// - Throws: ``KeychainError``.
    public func item(for account: String) async throws -> KeychainItem? {
        try await inBackground { bound in
            try bound.item(account, includingValue: false).map { KeychainItem($0) }
        }
    }

    /// The items of the service or server, sorted by account. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public func items(includingValues: Bool = false) async throws -> [KeychainItem] {
        try await inBackground { bound in try bound.items(includingValues: includingValues) }
    }

    /// The items of the service or server that have all these custom attributes. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public func items(
        withCustom custom: [String: String], includingValues: Bool = false
    ) async throws -> [KeychainItem] {
        try await inBackground { bound in try bound.items(withCustom: custom, includingValues: includingValues) }
    }

    /// Changes the given attributes of an item and nothing else.
    ///
    /// - Throws: ``KeychainError/Code/itemNotFound`` when there is no such item.
    public func setAttributes(
        _ attributes: KeychainItem.Attributes, for account: String
    ) async throws {
        try await inBackground { bound in try bound.setAttributes(account, attributes) }
    }

    /// Gives an item another account, keeping its value. See the synchronous form.
    ///
    /// - Throws: ``KeychainError``.
    public func rename(_ account: String, to newAccount: String) async throws {
        try await inBackground { bound in try bound.rename(account, to: newAccount) }
    }

    /// Gives an existing item this keychain's ``accessibility`` and ``accessControl``, keeping its value.
    ///
    /// - Throws: ``KeychainError/Code/itemNotFound`` when there is no such item.
    public func protect(_ account: String) async throws {
        try await inBackground { bound in try bound.protect(account) }
    }

    /// Removes every item of the service or server, as on sign-out. See the synchronous form.
    ///
    /// - Returns: How many items there were.
    /// - Throws: ``KeychainError``.
    @discardableResult
    public func removeAll() async throws -> Int {
        try await inBackground { bound in try bound.removeAll() }
    }

    /// Has the circle decide, and waits.
    private nonisolated(nonsending) func exchangeInCircle(
        _ account: String, expecting expected: Data?, with new: Data?
    ) async throws -> Bool {
        let patience = CircleExchange.patience
        var exchange = try await inBackground { bound in
            CircleExchange(try bound.newItem(account, new), expecting: expected, patience: patience)
        }
        while true {
            let present = exchange
            let step: CircleExchange.Step
            do {
                (exchange, step) = try await inBackground { bound in
                    var next = present
                    let step = try KeychainError.translating { try next.step(bound.session) }
                    return (next, step)
                }
                if case .wait(let time) = step { try await Task.sleep(for: time) }
            } catch {
                let last = exchange
                // Not in this task, which may be canceled.
                try? await Task { try await inBackground { bound in last.withdraw(bound.session) } }.value
                throw error is CancellationError ? KeychainError.taskCanceled : error
            }
            guard case .done(let outcome) = step else { continue }
            if outcome == .refused { try? await Task.sleep(for: CircleExchange.pause) }
            return try await inBackground { bound in try bound.isExchanged(outcome) }
        }
    }

    nonisolated(nonsending) func inBackground<Result: Sendable>(
        _ work: @escaping @Sendable (BoundKeychain) throws -> Result
    ) async throws -> Result {
        // The session of the task is looked up here, where the task is; the process's own is opened over
        // there, because opening it may wait for the disk.
        let provider = VaultSession.override
        return try await BlockingThreads.shared.run {
            if let provider { return try work(BoundKeychain(keychain: self, session: provider.session)) }
            return try work(BoundKeychain(keychain: self, session: .currentForKeychain()))
        }
    }
}

extension BlockingThreads {
    /// Runs `work`, which uses keychains, on one of the threads, with the vault that the calling task uses: a test may
    /// have put one in the place of the process's.
    ///
    /// - Throws: `canceled` when the task was canceled before `work` began; work that began is finished.
    package func runUsingKeychains<Result: Sendable>(
        orThrow canceled: any Error, _ work: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let provider = VaultSession.override
        return try await run(orThrow: canceled) {
            guard let provider else { return try work() }
            return try VaultSession.$override.withValue(provider, operation: work)
        }
    }
}
