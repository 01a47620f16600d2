import SystemLibraries

extension ConnectionLoop {
    /// How much of the process connections may take.
    package struct Limits: Sendable {
        /// The most connections at a time. One more takes the place of another one.
        package var connections = 2048
        /// The most connections of one process that have not been greeted. One more takes the place of its oldest.
        var newOfProcess: Int { min(64, max(2, connections / 2)) }
        /// The most threads for steps, without those that wait for the other end. A program has a quarter of them at
        /// the most, and a user three quarters, and the first of each of its programs.
        package var threads = max(28, 4 * Processors.count)
        /// The most threads that wait in the middle of a step: for the answer of a person, for a program that does not
        /// read, or for a turn. One more ends the connection that has waited longest of the program that has most.
        package var waits = 512
        /// How long a connection may take to say something; nil for as long as it likes.
        package var silence: Duration?
        /// Whether a user may connect.
        package var admits: @Sendable (_ user: UInt32) -> Bool = { _ in true }
        /// Told why a connection was refused.
        package var refused: @Sendable (_ reason: String, _ user: UInt32?) -> Void = { _, _ in }

        package init() {}
    }
}
