import Configuration
import Foundation
import Keychain
import KeychainConfiguration
import KeychainTesting
import Synchronization

/// The service whose secrets the tests read.
enum Shop {
    static let service = "com.example.shop"
    static let keychain = Keychain(service: service)
    static let provider = KeychainProvider(service: service)
    static let password: AbsoluteConfigKey = ["database", "password"]
    /// The account that has the value of ``password``.
    static let account = "database.password"
}

/// Keeps what readers report.
final class Reports: AccessReporter {
    private let all = Mutex<[AccessEvent]>([])

    var events: [AccessEvent] { all.withLock { $0 } }

    func report(_ event: AccessEvent) { all.withLock { $0.append(event) } }
}

extension LookupResult {
    /// The text of a value that is text.
    var text: String? {
        if case .string(let text) = value?.content { text } else { nil }
    }
}
