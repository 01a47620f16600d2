import ArgumentParser
import CommandKit
import MountedFolder
import StatusCodes

/// Unmounts a folder.
struct UnmountCommand: DocumentedCommand {
    static let summary = "Unmount a folder."
    static let details = """
        When this returns, everything that was written is in the folder below. While programs use the mounted folder \
        it stays, and the error says so. With --lazy it goes out of sight at once, and ends when those programs are \
        done.
        """
    static let examples = [Example("Take the mount away", "keychain unmount ~/Records")]
    static let configuration: CommandConfiguration = documented("unmount")

    @Argument(help: "Where the folder is mounted.", completion: .directory)
    var mountPoint: String

    @Flag(name: .customLong("lazy"), help: "Let programs that use the folder finish.")
    var isLazy = false

    @Flag(help: .jsonErrors)
    var json = false

    func run() throws {
        let path = try MountCommand.mountPath(mountPoint)
        guard MountPoint.isView(path) else {
            throw Failure(
                status: errSecItemNotFound, "no folder of protected files is mounted at \(path.escapedForTerminal)")
        }
        try MountPoint.unmount(path, lazily: isLazy)
    }
}
