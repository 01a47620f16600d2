/// Why a folder could not be used.
package enum FolderCarrierError: Error, Equatable, CustomStringConvertible {
    /// The folder is not there. Whatever carries it may not have started yet.
    case missing(path: String)
    /// A system call failed.
    case inputOutput(path: String, reason: String)
    /// Another process of this machine works on the same files.
    case busy(path: String)
    /// This machine's own files are not there, or were changed by somebody else: it writes nothing more.
    case ownFiles(path: String)
    /// The vault is in no circle, or was removed from it.
    case noCircle(String)

    package var description: String {
        switch self {
        case .missing(let path):
            "the folder \(path) is not there: start what brings it to this machine, or make it if it is a new one"
        case .inputOutput(let path, let reason): "\(path): \(reason)"
        case .busy(let path): "another process carries the circle through \(path)"
        case .ownFiles(let path):
            "the files that this machine wrote to \(path) are not there, or are others: nothing more is sent. Bring the folder "
                + "back as it was. If a copy of this vault is in use elsewhere, or the files are lost, run `keychain circle leave "
                + "--only-here` and join again; all items stay"
        case .noCircle(let reason): reason
        }
    }
}
