import Crypto
import FoundationEssentials
import Glibc

/// What fprintd stored of a user's fingers, which only the superuser can read.
struct EnrolledPrints: Sendable {
    /// Readers, fingers and bytes beyond which something else must be in the folder.
    private static let fileLimit = 256
    private static let sizeLimit = 1 << 20

    let folder: String
    let user: String

    /// A digest of the name and the contents of each print, in the order of names; empty where they cannot
    /// be read.
    func digests() -> [Data] {
        guard let name = user.isEmpty ? Self.ownName : user, !name.contains("/") else { return [] }
        let root = "\(folder)/\(name)"
        var digests: [String: Data] = [:]
        // Folders to look into, named from `root` on.
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
