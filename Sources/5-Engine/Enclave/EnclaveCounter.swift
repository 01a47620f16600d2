/// A number that an enclave counts up and never down, so that whoever puts back an older copy of a file can be found
/// out.
package protocol EnclaveCounter: Sendable {
    /// What a new counter can be called in this enclave.
    ///
    /// - Throws: ``EnclaveError/refused(reason:)`` if the enclave has none.
    func freeCounter() throws(EnclaveError) -> UInt32

    /// Makes a counter, unless it is there already.
    ///
    /// - Parameter counter: From ``freeCounter()``, and kept since then where a program that is killed meanwhile finds it
    ///   again: a counter whose name nobody knows keeps its place for good.
    /// - Throws: ``EnclaveError/refused(reason:)`` if there is no room for one, or the name stands for something else.
    func makeCounter(_ counter: UInt32) throws(EnclaveError)

    func value(ofCounter counter: UInt32) throws(EnclaveError) -> UInt64

    /// Counts one up.
    func advance(counter: UInt32) throws(EnclaveError)
}
