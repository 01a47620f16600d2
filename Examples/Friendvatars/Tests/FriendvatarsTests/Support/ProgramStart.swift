import Foundation
import Glibc

/// Starts programs that the tests were built with, and which end with this process.
enum ProgramStart {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// A program that the tests were built with.
    private static func path(of name: String) throws -> String {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(filePath: own).deletingLastPathComponent().appending(path: name).path(percentEncoded: false)
    }

    /// Starts one with the descriptors that `describe` adds actions for, and its standard ones.
    ///
    /// - Parameter leadsSession: Whether it leads a session of its own; the first terminal that it opens becomes its
    ///   controlling one.
    static func start(
        _ name: String, _ arguments: [String], environment: [String: String], leadsSession: Bool = false,
        _ describe: (inout posix_spawn_file_actions_t) -> Void
    ) throws -> pid_t {
        let program = try path(of: name)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Not those of other tests that are running. To close what is not open is no error here.
        for descriptor in Int32(3)..<1_024 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        describe(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads of tests block signals.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        // POSIX_SPAWN_SETSID of spawn.h, which is shown to programs alone that ask for GNU's extensions.
        let setSession: Int16 = leadsSession ? 0x80 : 0
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | setSession)
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, program, &actions, &attributes, &words, &variables)
        guard code == 0 else {
            throw Failure(description: "\(program) does not start: \(String(cString: strerror(code)))")
        }
        try TestWatcher.end(process)
        return process
    }
}
