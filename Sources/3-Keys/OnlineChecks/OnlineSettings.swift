import FoundationEssentials
import SystemHTTP

/// Where to ask, and for how long.
package struct OnlineSettings: Sendable {
    /// Whether requests may go out.
    package var allowsRequests = false
    /// Where answers are kept; nil keeps none.
    package var cache: AnswerCache?
    /// The moment for which answers must hold; nil for that of the check.
    package var date: Date?
    /// The time for all requests of a check together. Three responders of a leaf that do not answer take nine seconds.
    package var total = Duration.seconds(10)
    /// The time for one request: TrustURLSessionGetResourceTimeout() (Apple, Security-61901).
    package var single = Duration.seconds(3)

    package init() {}

    /// The addresses that are asked for one thing: MAX_TASKS of TrustURLSessionDelegate.m (Apple, Security-61901).
    static let mostPlaces = 3
    /// A certificate that names more addresses than this is asked about nowhere: OCSP_REQUEST_THRESHOLD of
    /// SecRevocationNetworking.m (Apple, the same).
    static let mostNamedPlaces = 10

    /// Returns those addresses of a certificate that are asked.
    static func asked(_ places: [String]) -> [String] {
        guard places.count <= mostNamedPlaces else { return [] }
        return Array(places.filter(HTTPRequest.isAcceptable).prefix(mostPlaces))
    }
}

/// The end of all requests of one check.
struct OnlineDeadline {
    private let end: ContinuousClock.Instant
    private let single: Duration

    init(_ settings: OnlineSettings) { (end, single) = (.now + settings.total, settings.single) }

    /// The end of a request that begins now.
    var next: ContinuousClock.Instant { min(end, .now + single) }
}
