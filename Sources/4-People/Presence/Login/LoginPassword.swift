import Access
import FoundationEssentials
import Glibc
import KeychainModel
import SystemLibraries

/// Checks the password that a user logs in with, through PAM.
///
/// It shows that a person is present and unlocks nothing: no key depends on it. Whether the account is
/// expired or may log in now is not looked at. PAM's modules count wrong passwords and delay as they are
/// configured to.
package struct LoginPassword: PasscodeVerifier {
    /// In the order in which a machine's own choice is most likely to be found: one for this package alone,
    /// then Debian's and Fedora's common ones.
    private static let services = ["keychain", "common-auth", "system-auth", "login"]

    private let user: String?
    private let service: String?
    private let folder: String?
    private let timeout: Duration

    /// - Parameters:
    ///   - user: Nil for the user this process runs as, the only one whose password can be checked without
    ///     privileges.
    ///   - service: The PAM service; nil for the first there is of `keychain`, `common-auth`, `system-auth` and
    ///     `login`.
    ///   - folder: Where services are described; nil for the system's folders.
    ///   - timeout: How long PAM may take. A module that takes longer is left to itself.
    package init(
        user: String? = nil, service: String? = nil, folder: String? = nil, timeout: Duration = .seconds(30)
    ) {
        self.user = user ?? Self.ownName
        self.folder = folder
        self.service =
            service
            ?? Self.services.first { name in
                (folder.map { [$0] } ?? ["/etc/pam.d", "/usr/lib/pam.d"]).contains {
                    access("\($0)/\(name)", R_OK) == 0
                }
            }
        self.timeout = timeout
    }

    package var isPasscodeSet: Bool {
        guard user != nil, service != nil, case .success = PAM.loaded else { return false }
        return true
    }

    package func verify(_ passcode: SecretBytes) -> PasscodeVerdict {
        guard let user else { return .failed(reason: "this process's user has no name") }
        guard let service else { return .failed(reason: "PAM knows no service to check a password with") }
        let pam: PAM
        switch PAM.loaded {
        case .success(let loaded): pam = loaded
        case .failure(let error): return .failed(reason: error.description)
        }
        // PAM's modules can wait for anything, and nothing can stop them.
        let verdict = Handoff<PasscodeVerdict>()
        let hasStarted = DetachedThread.start("pam") { [folder] in
            verdict.put(Self.verify(passcode, pam, service: service, user: user, folder: folder))
        }
        guard hasStarted else { return .failed(reason: "there can be no thread for PAM") }
        return verdict.wait(until: .now + timeout) ?? .failed(reason: "PAM gave no answer in time")
    }

    private static func verify(
        _ passcode: SecretBytes, _ pam: PAM, service: String, user: String, folder: String?
    ) -> PasscodeVerdict {
        let reply = PasswordReply(passcode)
        return withExtendedLifetime(reply) {
            var conversation = PAM.Conversation(
                converse: answerPAM, data: Unmanaged.passUnretained(reply).toOpaque())
            var handle: PAM.Pointer?
            let started =
                if let folder {
                    pam.startIn(service, user, &conversation, folder, &handle)
                } else {
                    pam.start(service, user, &conversation, &handle)
                }
            guard started == PAM.success, let handle else { return .failed(reason: words(pam, nil, started)) }
            let result = pam.authenticate(handle, PAM.flags)
            let reason = words(pam, handle, result)
            _ = pam.end(handle, result)
            return switch result {
            case PAM.success: .correct
            // PAM_SYSTEM_ERR, which pam_exec says of a script that refuses; PAM_AUTH_ERR; PAM_MAXTRIES.
            case 4, 7, 11: .wrong(wait: .zero)
            default: .failed(reason: reason)
            }
        }
    }

    private static func words(_ pam: PAM, _ handle: PAM.Pointer?, _ code: Int32) -> String {
        pam.explain(handle, code).map { String(cString: $0) } ?? "PAM error \(code)"
    }

    private static var ownName: String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        // The real user, as pam_unix's helper has it, which checks no other's password without privileges.
        guard getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.pw_name.map { String(cString: $0) }
    }
}
