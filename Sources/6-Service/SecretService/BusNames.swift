import SystemBus

/// What programs ask a bus for. There is one service, which is always there.
package enum BusNames {
    static let interface = "org.freedesktop.DBus"
    /// The name that programs look for on a bus.
    package static let secrets = "org.freedesktop.secrets"
    private static let only = "there is only \(secrets) here"

    static func answer(_ call: SecretCall) throws -> [BusArgument] {
        let name = call.arguments.first?.string ?? ""
        switch call.member {
        case "Hello": return [.string(":1.1")]
        case "AddMatch", "RemoveMatch": return []
        // Desktop programs want a name before they begin. Each has a bus of its own here, where every name is free.
        case "RequestName", "ReleaseName": return [.unsigned32(1)]
        case "NameHasOwner": return [.boolean(isThere(name))]
        case "StartServiceByName" where isThere(name): return [.unsigned32(2)]
        case "GetNameOwner" where isThere(name): return [.string(BusFront.serviceName)]
        case "ListNames", "ListActivatableNames":
            return [.array(of: "s", [.string("org.freedesktop.DBus"), .string(secrets)])]
        case "GetId": return [.string("00000000000000000000000000000001")]
        case "GetNameOwner":
            throw SecretServiceError(name: "org.freedesktop.DBus.Error.NameHasNoOwner", message: only)
        case "StartServiceByName":
            throw SecretServiceError(name: "org.freedesktop.DBus.Error.ServiceUnknown", message: only)
        default: throw SecretServiceError.unknownMethod(call.request)
        }
    }

    private static func isThere(_ name: String) -> Bool {
        [secrets, BusFront.serviceName, "org.freedesktop.DBus"].contains(name)
    }
}
