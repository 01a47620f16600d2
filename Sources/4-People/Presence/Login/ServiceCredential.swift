import Access
import Bytes
import CLibrary
import SystemLibraries

/// A passcode that systemd passes to a service at its start, in a file that only the service can read
/// (`LoadCredential=` and similar settings, systemd.exec(5)).
package enum ServiceCredential {
    package static let passcodeName = "keychain-passcode"

    /// Reads the passcode in `$CREDENTIALS_DIRECTORY`, in the format of ``DescriptorPrompt``.
    ///
    /// - Returns: Nil without such a credential.
    package static func passcode(named name: String = passcodeName) throws(ServiceCredentialError) -> SecretBytes? {
        guard let folder = Environment.value(of: "CREDENTIALS_DIRECTORY") else { return nil }
        return try passcode(in: folder, named: name)
    }

    package static func passcode(
        in folder: String, named name: String = passcodeName
    ) throws(ServiceCredentialError) -> SecretBytes? {
        let path = folder + "/" + name
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw ServiceCredentialError(path: path, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            throw ServiceCredentialError(path: path, reason: "it is not a regular file")
        }
        guard info.st_mode & 0o007 == 0 else {
            throw ServiceCredentialError(path: path, reason: "every user may read it")
        }
        let question = PasscodeQuestion(purpose: .unlock, reason: "")
        switch DescriptorPrompt(descriptor).ask(question, until: .now + .seconds(5)) {
        case .passcode(let passcode): return passcode
        case .unavailable(let remedy): throw ServiceCredentialError(path: path, reason: remedy)
        case .canceled, .timedOut: throw ServiceCredentialError(path: path, reason: "it cannot be read in time")
        }
    }
}

/// The error for a credential that exists but cannot be used.
package struct ServiceCredentialError: Error, Equatable, CustomStringConvertible {
    package var path: String
    package var reason: String

    package var description: String { "the passcode in \(path) cannot be used: \(reason)" }
}
