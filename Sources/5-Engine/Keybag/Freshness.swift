import Enclave
import FoundationEssentials
import SecureMemory

/// What shows that a keybag is the one last in use: a counter, and a secret that the enclave reveals only while the
/// counter has the value of this keybag.
///
/// Every class key is wrapped with the secret. So the enclave itself refuses an older keybag, whatever program asks.
package struct Freshness: Sendable, Equatable {
    package let counter: RollbackCounter
    /// The secret, sealed by the enclave; empty in a keybag of version 3, whose class keys depend on no secret.
    package let sealed: Data
    /// The secret; nil until the enclave has revealed it.
    private let secret: LockedBytes?

    /// What is stored, of which the enclave has revealed nothing.
    init(counter: RollbackCounter, sealed: Data) { (self.counter, self.sealed, secret) = (counter, sealed, nil) }

    /// Makes a secret for a new keybag.
    ///
    /// - Parameter counter: Its value is the present one, or the next, until which nothing but the result has the
    ///   secret.
    static func make(_ counter: RollbackCounter?, in enclave: any Enclave) throws(KeybagError) -> Freshness? {
        guard let counter else { return nil }
        guard let secret = try? LockedBytes.random(count: 32) else { throw .memoryUnavailable }
        do {
            let sealed = try enclave.seal(secret, toCounter: counter.name, at: counter.value)
            return Freshness(counter: counter, sealed: sealed, secret: secret)
        } catch {
            throw KeybagError(error)
        }
    }

    /// Returns the same with the secret, so that the enclave is asked only once.
    ///
    /// - Throws: ``KeybagError/rolledBack``.
    func revealed(in enclave: any Enclave) throws(KeybagError) -> Freshness {
        Freshness(counter: counter, sealed: sealed, secret: try secret(in: enclave))
    }

    /// Returns the secret; nil if the class keys depend on none.
    ///
    /// - Throws: ``KeybagError/rolledBack``.
    func secret(in enclave: any Enclave) throws(KeybagError) -> LockedBytes? {
        if let secret { return secret }
        guard !sealed.isEmpty else { return nil }
        do {
            return try enclave.unseal(sealed, toCounter: counter.name, at: counter.value)
        } catch {
            throw KeybagError(error)
        }
    }

    private init(counter: RollbackCounter, sealed: Data, secret: LockedBytes?) {
        (self.counter, self.sealed, self.secret) = (counter, sealed, secret)
    }

    package static func == (one: Freshness, other: Freshness) -> Bool {
        one.counter == other.counter && one.sealed == other.sealed
    }
}
