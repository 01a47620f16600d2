import CLibrary
import SystemLibraries

/// The program `keychain-sqlcipher`: where it is, and how it starts.
package enum HelperProgram {
    static let name = "keychain-sqlcipher"
    /// The variable with the program's path, for tests and for systems with another folder for it.
    package static let variable = "KEYCHAIN_SQLCIPHER"

    /// Returns the program's path: from the environment, or else beside the running program, or else in the system's
    /// libexec folders.
    package static func find() throws(SQLCipherError) -> String {
        if let given = Environment.value(of: variable) {
            guard access(given, X_OK) == 0 else {
                throw .helperMissing(reason: "\(variable) names \(given), which is not a program")
            }
            return given
        }
        var places = ["/usr/local/libexec", "/usr/libexec"]
        if let own = ownFolder { places = [own, own + "/../libexec"] + places }
        guard let folder = places.first(where: { access("\($0)/\(name)", X_OK) == 0 }) else {
            throw .helperMissing(
                reason: "there is no \(name) in \(places.joined(separator: ", ")): install it beside this program, or "
                    + "name it in \(variable)")
        }
        return "\(folder)/\(name)"
    }

    private static var ownFolder: String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, let end = buffer[..<count].lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return String(decoding: buffer[..<end], as: UTF8.self)
    }

    /// Starts the program with `descriptor` as its standard input and output. It inherits nothing else.
    static func start(_ path: String, _ descriptor: Int32) throws(SQLCipherError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, descriptor, 0)
        posix_spawn_file_actions_adddup2(&actions, descriptor, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        closeDescriptors(from: 3, in: &actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        dropRaisedIdentity(in: &attributes)
        resetSignals(in: &attributes)
        // Keys typed at the terminal are for the main program. The helper ends with it.
        leadSession(in: &attributes)
        var arguments = [strdup(path), nil]
        // Only the variables for finding libraries and for the time zone.
        let passed = ["LD_LIBRARY_PATH", "TZ"]
        var environment = passed.compactMap { name in Environment.value(of: name).map { strdup("\(name)=\($0)") } }
        environment.append(nil)
        defer { for pointer in arguments + environment { free(pointer) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, path, &actions, &attributes, &arguments, &environment)
        guard code == 0 else {
            throw .helperMissing(reason: "\(path) does not start: \(String(cString: strerror(code)))")
        }
        return process
    }
}
