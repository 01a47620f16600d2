/// A connection of a server, on a thread of its own.
protocol ServedConnection: AnyObject, Sendable {
    var wait: ConnectionWait { get }
    /// Serves until the client is gone.
    func run()
    /// Wakes the thread and lets it end. Safe on any thread.
    func end()
}
