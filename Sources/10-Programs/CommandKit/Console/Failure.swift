import CLibrary
import FoundationEssentials
import StatusCodes
import VaultInterface

/// An error as a person or a script sees it: what happened, what to do, and how the program exits.
package struct Failure: Error {
    /// Apple's OSStatus; `errSecParam` if the command line makes no sense.
    package var status: Int32
    package var exitCode: Int32
    package var message: String

    package init(status: Int32, exitCode: Int32? = nil, _ message: String) {
        self.status = status
        self.exitCode = exitCode ?? ExitStatus.code(for: status)
        self.message = message
    }

    package static func usage(_ message: String) -> Failure {
        Failure(status: errSecParam, exitCode: ExitStatus.usage, message)
    }

    package init(_ error: VaultError) {
        // The vault's own words are for programs.
        if case .itemPasswordMissing = error {
            self = .itemPasswordMissing
            return
        }
        if case .itemExpired(let date) = error {
            self.init(
                status: error.osStatus,
                "the secret expired at \(Timestamp(date).iso8601): store a new one with `keychain set`, or read it with "
                    + "`keychain get --expired`")
            return
        }
        let remedy =
            switch error {
            case .itemNotFound:
                OtherTool.served.map { "; " + $0.note }
                    ?? ": `keychain list` and `keychain internet list` show what there is"
            case .accessDenied: OtherTool.served.map { "; " + $0.note } ?? ""
            case .authenticationFailed: ": try again"
            case .diskFull: ": free some space and try again"
            case .memoryUnavailable: ": end other programs or raise the limit on locked memory (ulimit -l)"
            default: ""
            }
        self.init(status: error.osStatus, error.description + remedy)
    }

    package static let itemPasswordMissing = Failure(
        status: errSecInteractionNotAllowed,
        "the item needs its own password: give it with --item-password-fd, as in --item-password-fd 3 3< file")

    package static let memory = Failure(VaultError.memoryUnavailable)

    /// A failure of a file that was named to a command.
    package static func input(_ path: String, _ reason: String) -> Failure {
        Failure(status: errSecParam, exitCode: ExitStatus.other, "\(path.escapedForTerminal): \(reason)")
    }

    /// A failure of a call of the system.
    package static func system(_ what: String, _ code: Int32) -> Failure {
        Failure(status: errSecIO, exitCode: ExitStatus.other, "\(what) (\(String(cString: strerror(code))))")
    }

    package static func fileExists(_ path: String) -> Failure {
        Failure(status: errSecDuplicateItem, "\(path.escapedForTerminal) exists already: choose another name")
    }

    package static func file(_ verb: String, _ path: String, _ code: Int32) -> Failure {
        Failure(
            status: errSecIO, exitCode: ExitStatus.other,
            "cannot \(verb) \(path.escapedForTerminal): \(String(cString: strerror(code)))")
    }

    /// Prints the error on standard error.
    ///
    /// - Returns: The exit status.
    package func report(asJSON: Bool) -> Int32 {
        let line = asJSON ? json : "\(TerminalStyle(of: 2).error("keychain:")) \(message)"
        // There is nowhere left to report that standard error cannot be written.
        try? FileOutput.write(Data((line + "\n").utf8), to: 2)
        return exitCode
    }

    private var json: String {
        struct Body: Encodable {
            struct Content: Encodable {
                var status: Int32
                var message: String
            }
            var error: Content
        }
        let body = Body(error: .init(status: status, message: message))
        return (try? JSON.string(body)) ?? #"{"error":{"status":\#(status)}}"#
    }
}
