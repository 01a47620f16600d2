/// A number that an enclave counts up and never down, so that whoever puts back an older copy of a file can be found
/// out.
package protocol EnclaveCounter: Sendable {
    /// Makes a counter.
    ///
    /// - Returns: What it is called in this enclave.
    /// - Throws: ``EnclaveError/refused(reason:)`` if there is no room for one, or the enclave has none.
    func makeCounter() throws(EnclaveError) -> UInt32

    func value(ofCounter counter: UInt32) throws(EnclaveError) -> UInt64

    /// Counts one up.
    func advance(counter: UInt32) throws(EnclaveError)
}
