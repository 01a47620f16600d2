import Bytes
import Crypto
import FoundationEssentials
import PrivateFiles
import SystemLibraries

/// Answers on disk, each in a file of its own.
///
/// Nothing here is trusted. The reader checks each answer as if it had come from the network. It ignores and replaces
/// an answer that is damaged, expired or for something else. If the disk fails, there is no answer.
package struct AnswerCache: Sendable {
    /// What an answer is kept for.
    package struct Key: Hashable, Sendable {
        let name: String

        /// - Parameters:
        ///   - address: Who answered.
        ///   - subject: What the answer is about, such as a certificate.
        package init(_ address: String, about subject: Data = Data()) {
            var digest = SHA256()
            SHA256.hash(data: Data(address.utf8)).withUnsafeBytes { digest.update(bufferPointer: $0) }
            digest.update(data: subject)
            name = digest.finalize().hexadecimal()
        }
    }

    /// The most files. Answers about a certificate have some thousand bytes.
    package var mostFiles = 512
    /// The most bytes of all files: room for some large revocation lists.
    package var mostBytes = 64 << 20

    private let path: String

    /// - Parameter path: A folder that only its owner can enter. It is made when the first answer is kept.
    package init(_ path: String) { self.path = path }

    /// The cache of this user: `$XDG_CACHE_HOME/keychain/revocation`, else `~/.cache/keychain/revocation`; nil without
    /// such a place, and in programs with raised privileges.
    package static func standard() -> AnswerCache? {
        if let place = Environment.path(in: "XDG_CACHE_HOME") { return AnswerCache(place + "/keychain/revocation") }
        return Environment.path(in: "HOME").map { AnswerCache($0 + "/.cache/keychain/revocation") }
    }

    /// Returns what is kept; nil if nothing is, if it is larger than `limit`, or if others could have written it.
    package func read(_ key: Key, limit: Int) -> Data? {
        guard let folder = try? PrivateFolder(existing: path) else { return nil }
        return try? folder.read(key.name, limit: limit)
    }

    /// Keeps an answer in the place of the one before, and removes the oldest files if there are too many.
    package func write(_ key: Key, _ answer: Data) {
        guard answer.count <= mostBytes, let folder = try? PrivateFolder(creating: path) else { return }
        try? folder.replace(key.name, with: answer)
        prune(folder)
    }

    private func prune(_ folder: PrivateFolder) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let files = names.compactMap { name -> (name: String, time: Int, size: Int)? in
            guard let time = try? folder.modificationNanoseconds(of: name), let size = try? folder.size(of: name) else {
                return nil
            }
            return (name, time, size)
        }.sorted { ($0.time, $0.name) > ($1.time, $1.name) }
        var (count, bytes) = (0, 0)
        for file in files {
            if count < mostFiles, bytes + file.size <= mostBytes {
                (count, bytes) = (count + 1, bytes + file.size)
            } else {
                try? folder.remove(file.name)
            }
        }
    }
}
