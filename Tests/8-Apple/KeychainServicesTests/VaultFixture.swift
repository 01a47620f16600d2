import Access
import Foundation
import KeychainServices
import ProcessVault
import TestSupport
import VaultInterface

/// A vault in memory in the place of the process's own.
struct VaultFixture: VaultSessionProvider {
    let session: VaultSession

    init(client: Client = .app) throws {
        session = VaultSession(vault: try memoryVault(), client: client)
    }

    private init(session: VaultSession) {
        self.session = session
    }

    /// The same vault as another client sees it.
    func seen(by groups: [String]) -> VaultFixture {
        VaultFixture(session: VaultSession(vault: session.vault, client: Client(identifier: "t", accessGroups: groups)))
    }

    func run<Result>(_ body: () throws -> Result) rethrows -> Result {
        try VaultSession.$override.withValue(self) { try body() }
    }
}

/// Runs `body` with the SecItem functions on a fresh vault.
func onFreshVault<Result>(_ body: () throws -> Result) throws -> Result {
    try VaultFixture().run(body)
}

let secret = Data("hunter2".utf8)

/// A generic password's dictionary.
func password(_ entries: [NSString: Any] = [:]) -> NSDictionary {
    entries.merging([kSecClass: kSecClassGenericPassword]) { given, _ in given } as NSDictionary
}

func add(_ dictionary: NSDictionary) -> OSStatus {
    SecItemAdd(dictionary, nil)
}

/// The status and the result of a search.
func copy(_ dictionary: NSDictionary) -> (status: OSStatus, result: AnyObject?) {
    var result: AnyObject?
    let status = SecItemCopyMatching(dictionary, &result)
    return (status, result)
}
