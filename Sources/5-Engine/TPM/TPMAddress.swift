import Enclave

/// The address of the machine's TPM.
package struct TPMAddress: Sendable, Hashable {
    /// The address for the stack's loader of transports.
    package let text: String

    /// The kernel's resource manager, with which many programs can use the TPM at once.
    package static let standard = "device:/dev/tpmrm0"

    init(text: String) { self.text = text }

    /// The device file of a TPM with a kernel driver; nil for another transport.
    package var device: String? {
        guard text.hasPrefix("device:") else { return nil }
        return String(text.dropFirst("device:".count))
    }

    /// Whether no resource manager shares the TPM's few slots for loaded objects.
    var hasNoResourceManager: Bool {
        text.hasPrefix("swtpm") || text.hasPrefix("mssim") || device == "/dev/tpm0"
    }

    /// The folder whose lock gives programs their turn at a TPM without a resource manager: the folder of its socket,
    /// or else one that everyone can read. Nil for a TPM with a resource manager.
    package var folderForTurns: String? {
        guard hasNoResourceManager else { return nil }
        let options = text.drop { $0 != ":" }.dropFirst().split(separator: ",")
        guard let path = options.first(where: { $0.hasPrefix("path=") })?.dropFirst("path=".count),
            let slash = path.lastIndex(of: "/")
        else { return "/tmp" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Transports that lead to a TPM. Others would start programs or load libraries by name.
    private static let transports = ["device", "swtpm", "mssim", "tabrmd"]

    /// - Parameter environment: Returns the value of a variable; nil if it is not set.
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
