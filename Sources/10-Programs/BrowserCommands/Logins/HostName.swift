import SystemLibraries

/// Names of hosts with letters outside ASCII.
enum HostName {
    private typealias Lookup =
        @convention(c) (UnsafePointer<UInt8>, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, Int32) -> Int32
    private typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void

    private struct Library: Sendable {
        let lookup: Lookup
        let free: Free

        init?() {
            guard let library = try? SystemLibrary("libidn2.so.0", provides: "names of hosts in other letters"),
                let lookup = try? library.function("idn2_lookup_u8", as: Lookup.self),
                let free = try? library.function("idn2_free", as: Free.self)
            else { return nil }
            (self.lookup, self.free) = (lookup, free)
        }
    }

    private static let library = Library()

    /// Returns the name as browsers send it, in small letters, such as `xn--bcher-kva.example` (RFC 5891). What is no
    /// such name, and every name where libidn2 is missing, stays as it is, and is the name of no page then.
    static func ascii(_ host: String) -> String {
        guard !host.utf8.allSatisfy({ $0 < 0x80 }), !host.utf8.contains(0), let library else {
            return host.lowercased()
        }
        var name: UnsafeMutablePointer<UInt8>?
        // IDN2_NFC_INPUT and IDN2_NONTRANSITIONAL (idn2.h), as browsers do.
        guard library.lookup(Array(host.utf8) + [0], &name, 1 | 8) == 0, let name else { return host }
        defer { library.free(name) }
        return String(cString: name).lowercased()
    }
}
