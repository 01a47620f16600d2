import CLibrary

/// Where the entitlements are if nobody says otherwise.
extension Entitlements {
    /// For the system's instance.
    package static let systemFile = "/etc/keychain/entitlements.json"

    /// For a user's instance; nil without a home.
    package static var userFile: String? {
        if let folder = environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return folder + "/keychain/entitlements.json"
        }
        return environment("HOME").map { $0 + "/.config/keychain/entitlements.json" }
    }

    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
