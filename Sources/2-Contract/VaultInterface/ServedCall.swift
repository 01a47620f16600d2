/// A call that a server performs for one of many programs.
///
/// Calls share processors, connections to the rows, and memory. An operation that does much work uses these functions
/// at points where it holds nothing that others wait for: no connection to the rows, no transaction and no lock.
package protocol ServedCall: Sendable {
    /// How many bytes of values the call may hold at a time.
    var room: Int { get }
    /// How many rows it may visit in a slice.
    var rows: Int { get }
    /// The most that it can get.
    var largestRoom: Int { get }

    /// Waits until the call may hold `bytes` bytes of values, at most ``largestRoom``, and lets others go first as
    /// ``giveWay()`` does. The call holds no values when it calls this.
    ///
    /// - Throws: ``VaultError/clientIsGone``.
    func makeRoom(for bytes: Int) throws(VaultError)

    /// Lets programs go first that have waited while this call worked.
    ///
    /// - Throws: ``VaultError/clientIsGone``.
    func giveWay() throws(VaultError)

    /// Lets other threads that wait have the processor. Unlike ``giveWay()``, a call may use this at any point.
    ///
    /// A system takes the processor from a thread only after milliseconds, in which a lookup of another program could
    /// be done a hundred times.
    ///
    /// - Throws: ``VaultError/clientIsGone``: nobody waits for the work any more.
    func breathe() throws(VaultError)

    /// Runs `body`, which waits for a person and needs no processor, while others take the place of this call.
    func wait<Result>(for body: () -> Result) -> Result
}

/// The call that the running thread performs.
package enum CurrentCall {
    /// Nil in a program that has the vault in its own process.
    @TaskLocal package static var served: (any ServedCall)?

    /// Runs `body`, which waits for somebody, while others take the place of the call.
    package static func waiting<Result>(_ body: () -> Result) -> Result {
        guard let served else { return body() }
        return served.wait(for: body)
    }
}

extension VaultError {
    /// The client of a call ended its connection, or does not read its answer.
    package static let clientIsGone = VaultError.inputOutput(reason: "the client is gone, or does not read its answer")
}
