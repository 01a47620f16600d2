import CLibrary
import CPKCS11
import Frames

/// The program that serves the vault of a folder to this process where no daemon runs, and that asks a person.
enum VaultHelper {
    /// Starts the helper, and ends one that was started before. It ends with C_Finalize, or when this process and its
    /// children have ended.
    ///
    /// - Returns: The path of its socket; nil if it cannot be started.
    static func start() -> String? {
        guard let program = program(), let folder = makeFolder() else { return nil }
        let path = folder + "/socket"
        guard let listener = try? UnixSocket.listen(at: path, mode: 0o600) else {
            rmdir(folder)
            return nil
        }
        defer { close(listener) }
        guard kc_start_helper(program, folder, listener) == 1 else {
            unlink(path)
            rmdir(folder)
            return nil
        }
        return path
    }

    /// Returns whether a helper of this user listens there. A forked child may have changed its user.
    static func listens(at path: String) -> Bool {
        guard let socket = try? UnixSocket.connect(to: path) else { return false }
        defer { close(socket) }
        return UnixSocket.user(of: socket) == geteuid()
    }

    /// Ends it, if this process has started one.
    static func end() { kc_end_helper() }

    /// Returns a function that starts the program that asks a person; nil if the program is not installed.
    static func asker() -> (@Sendable () -> FrameSocket?)? {
        guard let program = program() else { return nil }
        return {
            let socket = kc_start_asker(program)
            return socket < 0 ? nil : FrameSocket(socket)
        }
    }

    /// Returns the program `keychain`: of the installation that this library belongs to, or on the path. Nil in a
    /// program with more rights than its user, which starts nothing that the user chose.
    private static func program() -> String? {
        guard kc_has_raised_rights() == 0 else { return nil }
        var candidates: [String] = []
        // A path from the working folder would name another program from the root.
        if let library = kc_library_path().map({ String(cString: $0) }), library.hasPrefix("/") {
            let folders = library.split(separator: "/").dropLast()
            // lib/pkcs11, lib/x86_64-linux-gnu/pkcs11. Other folders are no installation: anybody may own their bin.
            for index in folders.indices.suffix(3).reversed() where ["lib", "lib64"].contains(folders[index]) {
                candidates.append("/" + folders[..<index].joined(separator: "/") + "/bin/keychain")
            }
        }
        let path = kc_environment("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin"
        candidates += path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/keychain" }
        return candidates.first { access($0, X_OK) == 0 }
    }

    private static func makeFolder() -> String? {
        let runtime = kc_environment("XDG_RUNTIME_DIR").map { String(cString: $0) }
        for place in [runtime, "/tmp"].compactMap({ $0 }) where place.hasPrefix("/") {
            var template = Array((place + "/keychain-pkcs11-XXXXXX").utf8CString)
            if mkdtemp(&template) != nil {
                return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
        }
        return nil
    }
}
