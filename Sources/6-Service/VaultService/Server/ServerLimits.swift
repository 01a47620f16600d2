/// The limits of a server for its callers.
package struct ServerLimits: Sendable {
    /// The most connections at a time. One more takes the place of the one that has been at rest the
    /// longest.
    package var connections = 2048
    /// The most bytes of long requests that are being read at a time; half of it for one user, a quarter for one
    /// program.
    package var requestBytes = 256 << 20
    /// How long a long request waits for room: longer than those that came before it may take.
    package var room = Duration.seconds(60)
    /// How long a new connection may take to say hello.
    package var greeting = Duration.seconds(10)
    /// How long a client may take to send the rest of a request, or to take in an answer.
    package var transfer = Duration.seconds(10)
    /// How many requests a second one program may make over time; 0 for any number.
    package var requestsPerSecond = 10_000
    /// How long a stop waits for requests that are under way.
    package var farewell = Duration.seconds(5)

    package init() {}
}
