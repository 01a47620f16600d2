import VaultInterface

/// An observer of a server's work, for logs and metrics. It never learns of an item or a secret.
package protocol ServerObserver: Sendable {
    func connected(_ caller: CallerDescription, process: Int32, user: UInt32)
    /// - Parameter user: Who connected; nil if that is not known.
    func rejected(reason: String, user: UInt32?)
    func disconnected()
    func answered(
        _ operation: String, for caller: String, of user: UInt32, in time: Duration, refusal: VaultError?)
}

package struct NoObserver: ServerObserver {
    package init() {}
    package func connected(_ caller: CallerDescription, process: Int32, user: UInt32) {}
    package func rejected(reason: String, user: UInt32?) {}
    package func disconnected() {}
    package func answered(
        _ operation: String, for caller: String, of user: UInt32, in time: Duration, refusal: VaultError?
    ) {}
}
