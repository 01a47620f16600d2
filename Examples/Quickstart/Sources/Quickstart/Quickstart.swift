import Foundation
import Security

/// Stores a password, reads it back, and tries to store it a second time, as an app on an iPhone would.
@main
struct Quickstart {
    static func main() {
        let item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword,
            kSecAttrService: "com.example.quickstart",
            kSecAttrAccount: "alice",
        ]
        let value: [CFString: Any] = [kSecValueData: Data("correct horse".utf8)]
        let adding = item.merging(value) { $1 } as CFDictionary
        print("SecItemAdd:          \(text(SecItemAdd(adding, nil)))")
        print("SecItemAdd again:    \(text(SecItemAdd(adding, nil)))")

        var found: CFTypeRef?
        let status = SecItemCopyMatching(item.merging([kSecReturnData: true]) { $1 } as CFDictionary, &found)
        print("SecItemCopyMatching: \(text(status))")
        guard let secret = found as? Data, secret == Data("correct horse".utf8) else { exit(1) }
        print("SecItemDelete:       \(text(SecItemDelete(item as CFDictionary)))")
    }

    private static func text(_ status: OSStatus) -> String {
        "\(status), \(SecCopyErrorMessageString(status, nil) as String? ?? "without a text")"
    }
}
