import CLibrary
import CommandKit
import StatusCodes
import SystemLibraries

/// A folder for the socket of an agent that runs for one command, if the session has no folder for sockets.
struct AgentFolder {
    let path: String

    /// Returns nil if the session has a folder for sockets, or if `isNeeded` is false.
    init?(isNeeded: Bool) throws {
        guard isNeeded, Environment.path(in: "XDG_RUNTIME_DIR") == nil else { return nil }
        let parent = Environment.path(in: "TMPDIR") ?? "/tmp"
        // mkdtemp makes it with the mode 0700 (POSIX).
        var template = Array((parent + "/keychain-agent-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(
                status: errSecIO,
                "no folder for the agent's socket can be made in \(parent.escapedForTerminal) "
                    + "(\(String(cString: strerror(errno)))): say with --socket where to listen")
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Removes the folder. The socket in it has to be gone.
    func remove() { rmdir(path) }
}
