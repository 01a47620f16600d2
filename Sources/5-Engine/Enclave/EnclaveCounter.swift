/// A number that an enclave only increments, for detecting a restored older copy of a file.
package protocol EnclaveCounter: Sendable {
    /// Returns a name for a new counter in this enclave.
    ///
    /// - Throws: ``EnclaveError/refused(reason:)`` if the enclave has no free one.
    func freeCounter() throws(EnclaveError) -> UInt32

    /// Makes a counter, unless it exists.
    ///
    /// - Parameter counter: From ``freeCounter()``. The caller stores it first, so that a program finds it again after
    ///   being killed: a counter with an unknown name takes its place for good.
    /// - Throws: ``EnclaveError/refused(reason:)`` if there is no room for a counter, or if the name belongs to
    ///   something else.
    func makeCounter(_ counter: UInt32) throws(EnclaveError)

    func value(ofCounter counter: UInt32) throws(EnclaveError) -> UInt64

    /// Increments the counter by one.
    func advance(counter: UInt32) throws(EnclaveError)
}
