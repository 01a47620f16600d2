import Enclave

/// Where the machine's TPM is.
package struct TPMAddress: Sendable, Hashable {
    /// As the stack's loader of transports takes it.
    package let text: String

    /// The kernel's resource manager, which lets many programs use the TPM at once.
    package static let standard = "device:/dev/tpmrm0"

    init(text: String) {
        self.text = text
    }

    /// The file of a TPM that the kernel drives; nil for another transport.
    package var device: String? {
        guard text.hasPrefix("device:") else { return nil }
        return String(text.dropFirst("device:".count))
    }

    /// Whether nobody manages the TPM's few places for what is loaded.
    var hasNoResourceManager: Bool {
        text.hasPrefix("swtpm") || text.hasPrefix("mssim") || device == "/dev/tpm0"
    }

    /// Where programs agree on whose turn it is at a TPM without a resource manager: the folder of its socket, else one
    /// that everybody can read; nil for a TPM with one.
    package var folderForTurns: String? {
        guard hasNoResourceManager else { return nil }
        let options = text.drop { $0 != ":" }.dropFirst().split(separator: ",")
        guard let path = options.first(where: { $0.hasPrefix("path=") })?.dropFirst("path=".count),
            let slash = path.lastIndex(of: "/")
        else { return "/tmp" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Transports that lead to a TPM; others would start programs or load libraries by a name.
    private static let transports = ["device", "swtpm", "mssim", "tabrmd"]

    /// - Parameter environment: The value of a variable; nil if it is not set.
    package init(environment: (String) -> String?) throws(EnclaveError) {
        guard let named = environment("KEYCHAIN_TPM") else {
            text = Self.standard
            return
        }
        guard Self.transports.contains(where: { named == $0 || named.hasPrefix($0 + ":") }) else {
            throw .unavailable(
                reason:
                    "KEYCHAIN_TPM is '\(named)'; it can be device:PATH, swtpm:path=SOCKET, swtpm:host=NAME,port=NUMBER, "
                    + "mssim:… or tabrmd:…; swtpm also needs its control socket, at SOCKET.ctrl")
        }
        text = named
    }
}
