import Enclave

/// A counter in the enclave for a keybag. Each replacement of the keybag increments it, so that an older keybag has a
/// lower value.
package struct RollbackCounter: Sendable, Equatable {
    /// The counter's name in the enclave.
    package let name: UInt32
    /// The counter's value while this keybag is in use.
    package let value: UInt64

    package init(name: UInt32, value: UInt64) {
        self.name = name
        self.value = value
    }

    /// Makes the counter for a first keybag, unless it already exists.
    ///
    /// - Parameter name: See ``EnclaveCounter/makeCounter(_:)``.
    package static func make(_ name: UInt32, in enclave: any Enclave) throws(EnclaveError) -> RollbackCounter {
        try enclave.makeCounter(name)
        return RollbackCounter(name: name, value: try enclave.value(ofCounter: name))
    }

    /// The counter of the next keybag.
    package var next: RollbackCounter { RollbackCounter(name: name, value: value &+ 1) }

    /// Checks that no later keybag was in use. If this one is new, increments the counter.
    ///
    /// - Throws: ``KeybagError/rolledBack``.
    package func check(in enclave: any Enclave) throws(KeybagError) {
        do throws(EnclaveError) {
            let present = try enclave.value(ofCounter: name)
            if present == value { return }
            // The program that replaced the keybag was killed before it incremented the counter.
            if present == value &- 1 { return try enclave.advance(counter: name) }
        } catch {
            throw KeybagError(error)
        }
        throw .rolledBack
    }
}
