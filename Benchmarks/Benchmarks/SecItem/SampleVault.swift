import Foundation
import Glibc
import KeychainServices
import Synchronization

/// A vault in a temporary folder that becomes this process's own.
final class SampleVault: Sendable {
    static let shared = SampleVault()

    private let count = Mutex(0)

    private init() {
        var template = Array("/tmp/keychain-benchmark-XXXXXX".utf8CString)
        precondition(mkdtemp(&template) != nil, "no temporary folder")
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        setenv("KEYCHAIN_HOME", path, 1)
        folder = path
        atexit { try? FileManager.default.removeItem(atPath: SampleVault.shared.folder) }
    }

    private let folder: String

    /// Adds what is missing to make `total` items.
    func fill(_ total: Int) {
        count.withLock { count in
            for number in count..<max(count, total) { add(number) }
            count = max(count, total)
        }
    }

    func add(_ number: Int) {
        var item = primaryKey(number)
        item[kSecAttrLabel] = "Password \(number)"
        item[kSecValueData] = Data(repeating: 7, count: 32)
        check(SecItemAdd(item as NSDictionary, nil))
    }

    /// Whether the item is there.
    func find(_ number: Int) -> Bool {
        var query = primaryKey(number)
        query[kSecReturnData] = true
        var found: CFTypeRef?
        return SecItemCopyMatching(query as NSDictionary, &found) == errSecSuccess
    }

    func list() -> Int {
        let query: [AnyHashable: Any] = [
            kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
        ]
        var found: CFTypeRef?
        check(SecItemCopyMatching(query as NSDictionary, &found))
        return (found as? NSArray)?.count ?? 0
    }

    func change(_ number: Int) {
        let changes = [kSecValueData: Data(repeating: 8, count: 32)] as NSDictionary
        check(SecItemUpdate(primaryKey(number) as NSDictionary, changes))
    }

    func delete(_ number: Int) {
        check(SecItemDelete(primaryKey(number) as NSDictionary))
    }

    private func primaryKey(_ number: Int) -> [AnyHashable: Any] {
        [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "com.example.service-\(number / 4)",
            kSecAttrAccount: "user-\(number)@example.com",
        ]
    }

    private func check(_ status: OSStatus) {
        precondition(status == errSecSuccess, "status \(status)")
    }
}
