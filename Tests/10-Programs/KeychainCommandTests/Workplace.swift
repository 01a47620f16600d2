import Foundation
import Glibc
import TestSupport
import Testing

/// A folder of its own for one test: the vault's home, the programs by their names, and scratch files.
final class Workplace: Sendable {
    private let folder: TemporaryFolder
    var path: String { folder.path }
    var home: String { path + "/home" }

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: path + "/bin", withIntermediateDirectories: false)
        let program = try Self.program()
        for name in ["keychain", "keychaind", "security", "keychain-browser"] {
            try FileManager.default.createSymbolicLink(atPath: "\(path)/bin/\(name)", withDestinationPath: program)
        }
        for part in ["-sync", "-broker"] {
            try FileManager.default.createSymbolicLink(
                atPath: path + "/bin/keychain" + part, withDestinationPath: program + part)
        }
    }

    /// The program is built into the same folder as the test bundle, which is this process's executable.
    private static func program() throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let candidates = [own, CommandLine.arguments.first(where: { $0.hasSuffix(".xctest") }) ?? own]
            .map { URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/keychain" }
        guard let found = candidates.first(where: { access($0, X_OK) == 0 }) else {
            throw WorkplaceError(operation: "find \(candidates)", errno: ENOENT)
        }
        return found
    }

    /// What a child sees: no terminal settings or vault of whoever runs the tests.
    var environment: [String] {
        ["PATH=\(path)/bin:/usr/bin:/bin", "HOME=\(path)", "KEYCHAIN_HOME=\(home)", "LC_ALL=C.UTF-8"]
    }
}

extension Workplace {
    /// The lines of a script that start a session bus at `$HOME/session-bus`, as the process `$bus`.
    ///
    /// It starts no program that is asked for: the machine may have another keyring to start.
    static let sessionBus = #"""
        cat > bus.conf <<END
        <busconfig><type>session</type><listen>unix:path=$HOME/session-bus</listen><auth>EXTERNAL</auth>
        <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
        <allow own="*"/></policy></busconfig>
        END
        dbus-daemon --config-file="$HOME/bus.conf" --nofork 2>/dev/null & bus=$!
        until [ -S "$HOME/session-bus" ]; do sleep 0.05; done
        """#
}

struct WorkplaceError: Error {
    var operation: String
    var errno: Int32
}

extension Workplace {
    /// Runs `command` in the folder with a POSIX shell and waits for its end.
    func shell(_ command: String) throws -> ProgramOutcome {
        try run(["/bin/sh", "-c", "cd \"$HOME\"\n" + command])
    }

    /// Runs a program with `input` as its standard input, to its end.
    func run(_ arguments: [String], input: Data = Data(), output: Int32? = nil) throws -> ProgramOutcome {
        try start(arguments).run(input: input, output: output)
    }

    /// A child in a session of its own has no terminal but one that it opens first.
    func start(_ arguments: [String]) -> ProgramStart {
        let program = arguments.first ?? ""
        let resolved = program.contains("/") ? program : "\(path)/bin/\(program)"
        return ProgramStart([resolved] + arguments.dropFirst(), environment: environment, leadsSession: true)
    }
}
