import ArgumentParser
import MountedFolder
import StatusCodes

/// Takes away what `mount` shows.
struct UnmountCommand: DocumentedCommand {
    static let summary = "Take a mounted folder away."
    static let details = """
        Everything that was written is in the folder below when this returns. While programs use the mounted folder it \
        stays, and this says so; with --lazy it goes out of sight at once, and ends when they are done.
        """
    static let examples = [Example("Take the mount away", "keychain unmount ~/Records")]
    static let configuration: CommandConfiguration = documented("unmount")

    @Argument(help: "Where the folder is mounted.")
    var mountPoint: String

    @Flag(name: .customLong("lazy"), help: "Let programs that use it go on.")
    var isLazy = false

    @Flag(help: "Print any error as JSON.")
    var json = false

    func run() throws {
        let path = try MountCommand.mountPath(mountPoint)
        guard MountPoint.isView(path) else {
            throw Failure(
                status: errSecItemNotFound, "no folder of protected files is mounted at \(path.escapedForTerminal)")
        }
        try mounting { () throws(MountError) in try MountPoint.unmount(path, lazily: isLazy) }
    }
}
