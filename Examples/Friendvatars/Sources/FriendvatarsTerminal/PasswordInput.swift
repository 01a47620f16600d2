import ArgumentParser
import Foundation

/// Where a password comes from: never from arguments or the environment, which other programs can read.
struct PasswordInput: ParsableArguments {
    @Option(
        help: ArgumentHelp("Read the password, a line, from this descriptor instead of asking.", valueName: "number"))
    var passwordFd: Int32?

    /// The longest line that is read, in bytes: a terminal passes on no longer one (termios(3)).
    private static let lineLimit = 4_095

    /// Before the program opens a file, which could get this number. What the runtime has open already is of no kind
    /// that passwords come from.
    func validate() throws {
        guard let passwordFd else { return }
        var status = stat()
        if fstat(passwordFd, &status) != 0 || status.st_mode & S_IFMT == 0 {
            throw ValidationError(
                "--password-fd: there is no descriptor \(passwordFd); open it, as in --password-fd 3 3<FILE")
        }
    }

    /// The password.
    ///
    /// - Parameter isNew: Whether a person has to type it twice.
    func read(isNew: Bool = false) throws -> String {
        if let passwordFd { return try Self.line(of: passwordFd) }
        if isatty(STDIN_FILENO) == 0 { return try Self.line(of: STDIN_FILENO) }
        guard let terminal = SilentTerminal() else {
            throw TerminalFailure("There is no terminal to ask for the password; give it with --password-fd.")
        }
        let typed = try terminal.ask("Password: ")
        if isNew, try terminal.ask("Once more: ") != typed {
            throw TerminalFailure("The two passwords are not the same.")
        }
        return typed
    }

    /// A line without its end.
    static func line(of descriptor: Int32) throws -> String {
        // Never empty, so that it has an address.
        var bytes = [UInt8](repeating: 0, count: lineLimit + 1)
        defer { bytes.withUnsafeMutableBytes { explicit_bzero($0.baseAddress!, $0.count) } }
        var count = 0
        // One at a time: what comes behind the line is for others.
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + count, 1) }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else {
                throw TerminalFailure("The password cannot be read: \(String(cString: strerror(errno)))")
            }
            if got == 0 || bytes[count] == UInt8(ascii: "\n") { break }
            count += 1
        }
        // Of a file from another system.
        if count > 0, count <= lineLimit, bytes[count - 1] == UInt8(ascii: "\r") { count -= 1 }
        guard count <= lineLimit else { throw TerminalFailure("The password is longer than \(lineLimit) bytes.") }
        guard count > 0 else { throw TerminalFailure("No password was given.") }
        guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
            throw TerminalFailure("The password is not UTF-8.")
        }
        return text
    }
}
