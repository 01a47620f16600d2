import CLibrary
import SystemLibraries

/// Where the entitlements are if nobody says otherwise.
extension Entitlements {
    /// For the system's instance.
    package static let systemFile = "/etc/keychain/entitlements.json"

    /// For a user's instance; nil without a home.
    package static var userFile: String? {
        if let folder = Environment.path(in: "XDG_CONFIG_HOME") {
            return folder + "/keychain/entitlements.json"
        }
        return Environment.value(of: "HOME").map { $0 + "/.config/keychain/entitlements.json" }
    }
}
