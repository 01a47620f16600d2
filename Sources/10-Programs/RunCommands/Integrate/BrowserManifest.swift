import CommandKit

/// The file by which a browser finds the program that it starts for the extension KeePassXC-Browser: a manifest of
/// native messaging.
struct BrowserManifest {
    /// The name that the extension asks for.
    private static let name = "org.keepassxc.keepassxc_browser"
    static let file = name + ".json"

    /// The path of the program.
    let program: String

    /// Where a browser looks for a person's manifests.
    func folder(_ browser: Integration, home: String, configuration: String) -> String {
        let own =
            switch browser {
            case .chromium: "chromium"
            case .chrome: "google-chrome"
            case .brave: "BraveSoftware/Brave-Browser"
            case .edge: "microsoft-edge"
            case .vivaldi: "vivaldi"
            default: ""
            }
        return own.isEmpty
            ? home + "/.mozilla/native-messaging-hosts" : "\(configuration)/\(own)/NativeMessagingHosts"
    }

    func text(_ browser: Integration) -> String {
        let allowed =
            browser == .firefox
            ? #""allowed_extensions": ["keepassxc-browser@keepassxc.org"]"#
            : #"""
            "allowed_origins": [
                    "chrome-extension://oboonakemofpalcgghocfoadofidjkkk/",
                    "chrome-extension://pdffhmdngciaglkoonimfcmckehcpafo/"
                ]
            """#
        let path = (try? JSON.string(program)) ?? "\"\""
        return """
            {
                "name": "\(Self.name)",
                "description": "Logins from the keychain",
                "path": \(path),
                "type": "stdio",
                \(allowed)
            }

            """
    }
}
