import Access
import Bytes
import CLibrary
import FoundationEssentials
import KeychainModel
import SystemLibraries

/// Checks a user's login password with PAM.
///
/// It proves that a person is present, but unlocks nothing: no key depends on it. It does not check whether the account
/// is expired or may log in now. PAM's modules count wrong passwords and delay as they are configured.
package struct LoginPassword: PasscodeVerifier {
    /// In this order: the service of this package alone first, then the common ones of Debian and Fedora.
    private static let services = ["keychain", "common-auth", "system-auth", "login"]

    private let user: String?
    private let service: String?
    private let folder: String?
    private let timeout: Duration

    /// - Parameters:
    ///   - user: Nil for the user of this process. Without privileges, only this user's password can be checked.
    ///   - service: The PAM service; nil for the first that exists of `keychain`, `common-auth`, `system-auth` and
    ///     `login`.
    ///   - folder: The folder with the service files; nil for the system's folders.
    ///   - timeout: The time for PAM. A module that takes longer keeps running on its own.
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
        // A PAM module can wait for anything, and nothing can stop it.
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
            // PAM_SYSTEM_ERR, which pam_exec returns for a script that refuses; PAM_AUTH_ERR; PAM_MAXTRIES.
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
        // The real user, as in pam_unix's helper, which checks only that user's password without privileges.
        guard getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.pw_name.map { String(cString: $0) }
    }
}
