#if HTTPClientSupport
import Broker
import Bytes
import CLibrary
import Foundation
import Synchronization

/// Finds the addresses of servers. Each name is looked up once for a while, and the address that was checked is the one
/// that is dialled.
final class ServerAddresses: Sendable {
    /// Why a server is not dialled.
    struct Refusal: Error {
        var reason: String
    }

    /// Whether it serves no program, but asks for a token of a login.
    private let isForLogin: Bool
    private let known = Mutex<[String: (address: String, end: ContinuousClock.Instant)]>([:])
    private static let patience = Duration.seconds(30)
    private static let mostKnown = 10_000

    init(isForLogin: Bool) { self.isForLogin = isForLogin }

    /// Returns the address of a host.
    ///
    /// - Throws: ``Refusal`` if there is none, or it is one that is not reached by way of a name: of this machine, or
    ///   of the network's own services, such as the one at 169.254.169.254 that hands out the rights of a machine in a
    ///   cloud.
    func address(of host: String) async throws -> String {
        let now = ContinuousClock.now
        if let found = known.withLock({ $0[host] }), found.end > now { return found.address }
        let addresses = await Self.lookUp(host)
        guard !addresses.isEmpty else {
            throw Refusal(reason: "\(host) has no address: look at the name, or add 'at ADDRESS' to the rule")
        }
        // One bad address among good ones is the mark of an attack, too.
        if let bad = addresses.first(where: Self.isOwn) {
            throw Refusal(
                reason:
                    "\(bad), the address of \(host), is of this machine or of its link: to allow it, "
                    + (isForLogin ? "store the login with --address \(bad)" : "add 'at \(bad)' to a rule"))
        }
        let address = addresses[0]
        known.withLock { known in
            if known.count >= Self.mostKnown { known = [:] }
            known[host] = (address, now + Self.patience)
        }
        return address
    }

    private static func lookUp(_ host: String) async -> [String] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var hints = addrinfo()
                hints.ai_socktype = Int32(truncatingIfNeeded: SOCK_STREAM.rawValue)
                var list: UnsafeMutablePointer<addrinfo>?
                guard getaddrinfo(host, nil, &hints, &list) == 0 else { return continuation.resume(returning: []) }
                defer { freeaddrinfo(list) }
                var found: [String] = []
                var entry = list
                while let current = entry {
                    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
                    if getnameinfo(
                        current.pointee.ai_addr, current.pointee.ai_addrlen, &text, socklen_t(clamping: NI_MAXHOST),
                        nil, 0,
                        NI_NUMERICHOST) == 0
                    {
                        found.append(
                            String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
                    }
                    entry = current.pointee.ai_next
                }
                continuation.resume(returning: found)
            }
        }
    }

    /// Whether the address is of this machine, of its link, of a group, or none at all (RFC 6890).
    static func isOwn(_ text: String) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16)
        // The name of an interface follows an address of the link.
        let plain = String(text.prefix { $0 != "%" })
        if inet_pton(AF_INET, plain, &bytes) == 1 { return isOwn(v4: bytes[0..<4]) }
        guard inet_pton(AF_INET6, plain, &bytes) == 1 else { return true }
        let isMapped = bytes[0..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        // RFC 6052, 2.1: a translator makes an IPv4 address of the last four bytes.
        let isTranslated = Array(bytes[0..<12]) == [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
        if isMapped || isTranslated { return isOwn(v4: bytes[12..<16]) }
        // The first is of no use any more (RFC 4291, 2.5.5.1), and has ::1 and :: in it; the second is RFC 3056.
        if bytes[0..<12].allSatisfy({ $0 == 0 }) { return true }
        if bytes[0] == 0x20, bytes[1] == 0x02 { return isOwn(v4: bytes[2..<6]) }
        // Where a cloud at Amazon hands out a machine's rights.
        if Array(bytes) == [0xFD, 0, 0x0E, 0xC2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54] { return true }
        return bytes[0] == 0xFF || bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    }

    private static func isOwn(v4 bytes: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(bytes)
        return bytes[0] == 0 || bytes[0] == 127 || bytes[0] >= 224 || bytes[0] == 169 && bytes[1] == 254
            // The same of a cloud at Alibaba.
            || bytes == [100, 100, 100, 200]
    }
}
#endif
