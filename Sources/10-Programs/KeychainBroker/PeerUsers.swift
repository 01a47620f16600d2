#if HTTPClientSupport
import Bytes
import CLibrary
import NIOCore

/// Finds out which user of this machine made a connection over the loopback interface. The kernel tells (sock_diag(7)).
///
/// The structures are those of `linux/netlink.h`, `linux/sock_diag.h` and `linux/inet_diag.h`.
struct PeerUsers: Sendable {
    /// Whether the kernel answers such questions: some containers forbid them, and some kernels lack the module.
    private let isTold: Bool

    init() {
        let listener = socket(AF_INET, Int32(truncatingIfNeeded: SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(truncatingIfNeeded: AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(clamping: MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        isTold = isListening && Self.user(of: address, to: nil) == geteuid()
    }

    /// Whether another user than this process's and root made the connection. False where the kernel does not tell.
    func isOther(_ channel: any Channel) -> Bool {
        guard isTold, case .v4(let peer)? = channel.remoteAddress, case .v4(let own)? = channel.localAddress else {
            return false
        }
        // Who connects to the loopback interface is on this machine, from whatever address. Otherwise it has gone.
        guard let user = Self.user(of: peer.address, to: own.address) else { return true }
        return user != geteuid() && user != 0
    }

    /// - Parameters:
    ///   - end: Of the socket.
    ///   - other: Its other end; nil for a socket that listens.
    private static func user(of end: sockaddr_in, to other: sockaddr_in?) -> uid_t? {
        let link = socket(
            AF_NETLINK, Int32(truncatingIfNeeded: SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), 4)  // NETLINK_SOCK_DIAG
        guard link >= 0 else { return nil }
        defer { close(link) }
        var request: [UInt8] = []
        // nlmsghdr: SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST.
        request += native(UInt32(72)) + native(UInt16(20)) + native(UInt16(1)) + native(UInt32(1)) + native(UInt32(0))
        // inet_diag_req_v2: AF_INET, IPPROTO_TCP, every state.
        request += [2, 6, 0, 0] + native(UInt32.max)
        request += native(end.sin_port) + native(other?.sin_port ?? 0)
        for address in [end, other] {
            request += native(address?.sin_addr.s_addr ?? 0) + [UInt8](repeating: 0, count: 12)
        }
        // Any interface and no cookie.
        request += native(UInt32(0)) + native(UInt64.max)
        guard send(link, request, request.count, 0) == request.count else { return nil }
        var answer = [UInt8](repeating: 0, count: 1_024)
        // The kernel has answered by now.
        let count = recv(link, &answer, answer.count, Int32(truncatingIfNeeded: MSG_DONTWAIT))
        // nlmsghdr and inet_diag_msg; an error has another type.
        guard count >= 88, answer[4..<6].elementsEqual(native(UInt16(20))) else { return nil }
        return answer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 80, as: uid_t.self) }
    }

    private static func native(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }
}
#endif
