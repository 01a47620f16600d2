import CLibrary
import Crypto
import FoundationEssentials

/// The files of fprintd with a user's fingers. Only the superuser can read them.
struct EnrolledPrints: Sendable {
    /// The limits for readers and fingers, and for bytes. Beyond them the folder holds something else.
    private static let fileLimit = 256
    private static let sizeLimit = 1 << 20

    let folder: String
    let user: String

    /// Returns a digest of the name and contents of each print, sorted by name; empty if they cannot be read.
    func digests() -> [Data] {
        guard let name = user.isEmpty ? Self.ownName : user, !name.contains("/") else { return [] }
        let root = "\(folder)/\(name)"
        var digests: [String: Data] = [:]
        // The folders to search, relative to `root`.
        var folders = [""]
        while let folder = folders.popLast() {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: root + folder)) ?? []
            for name in names where digests.count < Self.fileLimit {
                let place = "\(folder)/\(name)"
                var info = stat()
                guard lstat(root + place, &info) == 0 else { continue }
                if info.st_mode & S_IFMT == S_IFDIR { folders.append(place) }
                guard info.st_mode & S_IFMT == S_IFREG, info.st_size <= Self.sizeLimit,
                    let contents = FileManager.default.contents(atPath: root + place)
                else { continue }
                let name = String(place.dropFirst())
                var digest = SHA256()
                digest.update(data: Data(name.utf8) + [0])
                digest.update(data: contents)
                digests[name] = Data(digest.finalize())
            }
        }
        return digests.sorted { $0.key < $1.key }.map(\.value)
    }

    private static var ownName: String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.pw_name.map { String(cString: $0) }
    }
}
