import CLibrary
import FoundationEssentials

/// Whether backups leave a file or folder out. Foundation's resource value `isExcludedFromBackup` is there on Linux,
/// and setting it does nothing.
///
/// No mark is known to all programs: see ``Foundation/URL/setExcludedFromBackup(_:)``.
extension URL {
    /// Marks the file or folder, which has to exist, as one that backups leave out, or takes the mark away.
    ///
    /// The mark is the extended attribute `user.xdg.robots.backup` with the value `false` (freedesktop.org, Common
    /// Extended Attributes); a folder gets a file `CACHEDIR.TAG` besides (Cache Directory Tagging Specification), and
    /// so the mark stays where the file system has no extended attributes. BorgBackup 2 heeds the attribute;
    /// `borg create`, `restic backup` and GNU tar heed the tag with their option `--exclude-caches`. Other programs
    /// have to be told what to leave out.
    ///
    /// Replacing a file loses the attribute, unless the program that replaces it keeps it, as protecting in place and
    /// copying do.
    ///
    /// - Throws: ``ProtectedFileError/Code/unsupported`` for a file on a file system without extended attributes.
    public func setExcludedFromBackup(_ isExcluded: Bool) throws {
        let path = try ProtectedFile(self).checkedPath()
        let isFolder = ProtectedFolder.isFolder(path)
        do {
            if isExcluded {
                try ExtendedAttribute.robotsBackup.set("false", path)
            } else {
                try ExtendedAttribute.robotsBackup.remove(path)
            }
        } catch ProtectedFileError.Code.unsupported where isFolder {
            // The file in the folder says it as well.
        }
        guard isFolder else { return }
        if isExcluded { try CacheTag.write(in: path) } else { try CacheTag.remove(in: path) }
    }

    /// Whether the file or folder itself is marked: with the extended attribute, or, a folder, with a `CACHEDIR.TAG`. A
    /// mark of a folder above is not looked for.
    ///
    /// - Throws: ``ProtectedFileError``.
    public func isExcludedFromBackup() throws -> Bool {
        let path = try ProtectedFile(self).checkedPath()
        do {
            if try ExtendedAttribute.robotsBackup.value(path) == "false" { return true }
        } catch ProtectedFileError.Code.unsupported {
            // Then only the file in a folder can say it.
        }
        return CacheTag.isPresent(in: path)
    }
}

/// The file that tells backup programs that a folder can be made anew.
private enum CacheTag {
    /// The first 43 bytes of the file make it one.
    private static let signature = "Signature: 8a477f597d28d172789f06886806bc55"

    private static func path(in folder: String) -> String {
        folder.hasSuffix("/") ? folder + "CACHEDIR.TAG" : folder + "/CACHEDIR.TAG"
    }

    static func isPresent(in folder: String) -> Bool {
        let descriptor = open(path(in: folder), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var start = [UInt8](repeating: 0, count: signature.utf8.count)
        return read(descriptor, &start, start.count) == start.count && start == Array(signature.utf8)
    }

    static func write(in folder: String) throws {
        guard !isPresent(in: folder) else { return }
        let text = signature + "\n# This folder is left out of backups.\n# See https://bford.info/cachedir/\n"
        // Another file with the name stays as it is.
        let descriptor = open(path(in: folder), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw ProtectedFileError("make", path(in: folder), errno: errno) }
        defer { close(descriptor) }
        guard CLibrary.write(descriptor, text, text.utf8.count) == text.utf8.count else {
            let number = errno
            unlink(path(in: folder))
            throw ProtectedFileError("write", path(in: folder), errno: number)
        }
    }

    static func remove(in folder: String) throws {
        guard isPresent(in: folder) else { return }
        guard unlink(path(in: folder)) == 0 else {
            throw ProtectedFileError("remove", path(in: folder), errno: errno)
        }
    }
}
