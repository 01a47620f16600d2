import Enclave

/// A counter in the enclave that goes with a keybag: it is counted up whenever the keybag is replaced, so that an older
/// one is behind it.
package struct RollbackCounter: Sendable, Equatable {
    /// What the enclave calls it.
    package let name: UInt32
    /// Where the counter stands once this keybag is in use.
    package let value: UInt64

    package init(name: UInt32, value: UInt64) {
        self.name = name
        self.value = value
    }

    /// A counter for a first keybag, new unless it is there already.
    ///
    /// - Parameter name: See ``EnclaveCounter/makeCounter(_:)``.
    package static func make(_ name: UInt32, in enclave: any Enclave) throws(EnclaveError) -> RollbackCounter {
        try enclave.makeCounter(name)
        return RollbackCounter(name: name, value: try enclave.value(ofCounter: name))
    }

    /// For the keybag that comes after.
    package var next: RollbackCounter { RollbackCounter(name: name, value: value + 1) }

    /// Makes sure that no later keybag was in use, and takes this one into use if it is new.
    ///
    /// - Throws: ``KeybagError/rolledBack``.
    package func check(in enclave: any Enclave) throws(KeybagError) {
        do throws(EnclaveError) {
            let present = try enclave.value(ofCounter: name)
            if present == value { return }
            // Replaced by a program that was killed before it could count.
            if present == value - 1 { return try enclave.advance(counter: name) }
        } catch {
            throw KeybagError(error)
        }
        throw .rolledBack
    }
}
