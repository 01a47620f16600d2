import Foundation
import TestSupport
import Testing

/// Programs of others, unmodified, with the Secret Service and the helpers: each does what it is for, and keeps its
/// secrets in the keychain.
///
/// The programs are big, and `Scripts/install/setup.sh --peers` installs them, so these tests run at full counts only.
/// A script of `Peer/programs` is one program, and can be run by hand, too.
@Suite(.serialized, .enabled(if: TestScale.isSoak, "these programs are big; `make soak` runs them"))
struct SoakProgramsTests {
    /// A script, and how its program reaches the vault.
    struct Trial: CustomTestStringConvertible {
        let program: String
        let place: String

        var testDescription: String { "\(program) \(place)" }
    }

    static let trials: [Trial] = [
        // Programs that ask for a Secret Service.
        ("chromium", ["socket", "bus"]), ("git-libsecret", ["socket", "bus"]), ("locked", ["socket", "bus"]),
        ("msmtp", ["socket", "bus"]), ("pip", ["socket", "bus"]), ("remmina", ["socket", "bus"]),
        ("seahorse", ["socket", "bus"]),
        // Programs that start a helper, with a daemon and without.
        ("aws", ["embedded", "socket"]), ("cargo", ["embedded", "socket"]), ("git-t0303", ["embedded", "socket"]),
        ("podman", ["embedded", "socket"]),
        // Another program with secrets, to move in from.
        ("kwallet", ["embedded"]),
    ].flatMap { program, places in places.map { Trial(program: program, place: $0) } }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer/programs"

    @Test(arguments: trials) func program(_ trial: Trial) throws {
        let workplace = try Workplace()
        let real = ProcessInfo.processInfo.environment
        // Programs of the system come first. Others, such as rustup's cargo, are where the person has them.
        let path = "\(workplace.path)/bin:/usr/bin:/bin:/usr/sbin:/sbin:\(real["PATH"] ?? "")"
        let toolchains = real["RUSTUP_HOME"] ?? "\(real["HOME"] ?? "")/.rustup"
        // The script has a folder of its own in /tmp: podman takes no long paths.
        let outcome = try workplace.shell(
            """
            keychain=$(command -v keychain)
            for name in git docker cargo; do ln -s "$keychain" "$HOME/bin/$name-credential-keychain"; done
            export PATH='\(path)' RUSTUP_HOME='\(toolchains)'
            timeout 1800 bash '\(Self.folder)/\(trial.program).sh' \(trial.place)
            """)
        #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
    }

    /// No script is forgotten.
    @Test func everyScriptIsRun() throws {
        let scripts = try FileManager.default.contentsOfDirectory(atPath: Self.folder)
        #expect(Set(scripts).subtracting(["lib.sh"]) == Set(Self.trials.map { "\($0.program).sh" }))
    }
}
