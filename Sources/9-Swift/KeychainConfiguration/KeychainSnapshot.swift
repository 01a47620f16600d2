#if ConfigurationSupport
import Configuration
import Foundation
import Keychain

/// The values of a service at one moment, or why they could not be read.
struct KeychainSnapshot: ConfigSnapshot {
    /// The bytes of each account's value.
    struct Values: Sendable, Equatable {
        private let data: [String: Data]

        init(_ items: [KeychainItem]) throws {
            var data: [String: Data] = [:]
            for item in items { data[item.account] = try item.value(as: Data.self) }
            self.data = data
        }

        var count: Int { data.count }

        subscript(account: String) -> Data? { data[account] }
    }

    private let provider: KeychainProvider
    private let values: Result<Values, any Error>

    init(of provider: KeychainProvider, _ values: Result<Values, any Error>) {
        self.provider = provider
        self.values = values
    }

    var providerName: String { provider.providerName }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try key.naming {
            try provider.result(values.get()[key.account], for: key, as: type)
        }
    }
}

extension KeychainSnapshot: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many values there are, and none of them.
    var description: String {
        switch values {
        case .success(let values): "\(providerName), \(values.count) values"
        case .failure(let error): "\(providerName), unreadable: \(error)"
        }
    }

    var debugDescription: String { description }

    /// The provider alone, so that dumps show no values either.
    var customMirror: Mirror {
        Mirror(self, children: ["provider": providerName], displayStyle: .struct)
    }
}

extension KeychainSnapshot.Values: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: ["count": count], displayStyle: .struct) }
}
#endif
