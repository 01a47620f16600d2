import Bytes
import CLibrary
import FoundationEssentials
import KeychainModel
import StoredKeys
import SystemBus
import VaultInterface
import VaultService

/// The backend of the portal through which a sandboxed application gets a secret of its own
/// (`org.freedesktop.impl.portal.Secret`, xdg-desktop-portal): the key with which libsecret in the sandbox encrypts the
/// application's file of secrets.
///
/// Only xdg-desktop-portal may ask, because it knows which application asks.
final class PortalClient: BusClient {
    static let busName = "org.freedesktop.impl.portal.desktop.keychain"
    static let path = "/org/freedesktop/portal/desktop"
    private static let interface = "org.freedesktop.impl.portal.Secret"
    /// The service of the items. Their account is the application.
    private static let service = KeyPurpose.portalService
    /// As many bytes as libsecret's own documentation and other backends have.
    private static let secretSize = 64

    private let vault: (String) -> GuestVault
    private let hub: SecretHub

    /// - Parameter vault: The vault for an access group.
    init(_ hub: SecretHub, vault: @escaping (String) -> GuestVault) { (self.hub, self.vault) = (hub, vault) }

    /// Whether only the portal may make the call. It reads properties before it has its name.
    static func isProtected(_ call: BusRequest) -> Bool { call.interface != SecretInterface.properties.rawValue }

    var deadline: ContinuousClock.Instant? { nil }
    func due(now: ContinuousClock.Instant) -> [SentSignal] { [] }

    func answer(_ call: SecretCall, isLate: Bool) throws -> SecretAnswer {
        switch (call.interface, call.member) {
        case (SecretInterface.properties.rawValue, "GetAll"):
            return SecretAnswer(values: [
                .array(of: "{sv}", [.entry(.string("version"), .variant(.unsigned32(1)))])
            ])
        case (SecretInterface.properties.rawValue, "Get"):
            return SecretAnswer(values: [.variant(.unsigned32(1))])
        case (Self.interface, "RetrieveSecret"): return try retrieve(call, isLate: isLate)
        default: throw SecretServiceError.unknownMethod(call.request)
        }
    }

    private func retrieve(_ call: SecretCall, isLate: Bool) throws -> SecretAnswer {
        guard call.arguments.count == 4, let application = call.arguments[1].string,
            case .descriptor = call.arguments[2]
        else { throw SecretServiceError.invalid("RetrieveSecret takes a handle, an application, a file and options") }
        if hub.isLocked, !isLate {
            hub.waits(application)
            throw UnlockAwaited(patience: hub.patience)
        }
        let secret = try secret(of: application)
        // 0 is success.
        return SecretAnswer(values: [.unsigned32(0), .array(of: "{sv}", [])], isSecret: true, written: secret)
    }

    /// Returns the application's secret, and makes it the first time.
    private func secret(of application: String) throws(VaultError) -> Data {
        // Programs outside of sandboxes have no name, and share one.
        let group = application.isEmpty ? SecretGuests.sharedGroup : "flatpak:" + application
        let vault = vault(group)
        let session = VaultSession(vault: vault, client: try vault.grant().client(claiming: [group]))
        let name: ItemAttributes = [.service: .string(Self.service), .account: .string(application)]
        let query = ItemQuery(itemClass: .genericPassword, attributes: name, synchronizable: .any)
        for _ in 0..<2 {
            do throws(VaultError) {
                if let value = try session.perform(CopyItems(query, includingValues: true)).first?.value {
                    return value
                }
            } catch .itemNotFound {
                // The first time.
            }
            let made = Data.randomAndWiped(count: Self.secretSize)
            var item = NewItem(itemClass: .genericPassword, attributes: name, accessGroup: group, value: made)
            item.attributes[.label] = .string("Secret of \(application.isEmpty ? "programs" : application)")
            // It is the key to what the application has encrypted: one that is deleted by mistake can come back.
            item.kept = .atMost(1)
            do throws(VaultError) {
                _ = try session.perform(AddItem(item))
                return made
            } catch .duplicateItem {
                // Another call made it meanwhile.
            }
        }
        throw .busy
    }
}
