import Bytes
import Crypto
import FoundationEssentials
import VaultInterface

/// The sealing of what follows a backup's head: chunks of 64 KiB under AES-256-GCM.
///
/// The construction is STREAM (Hoang, Reyhanitabar, Rogaway and Vizár, "Online Authenticated-Encryption and its
/// Nonce-Reuse Misuse-Resistance", 2015), with nonces as age has them: 11 bytes count the chunks, and the last byte is
/// 1 for the last chunk. So a chunk that is changed, left out, put elsewhere or missing at the end does not open. Each
/// backup has a key of its own, which is derived from its whole head.
struct BackupStream {
    static let chunkSize = 1 << 16
    static let tagSize = 16

    private let key: SymmetricKey
    private var count: UInt64 = 0

    /// - Parameter classKey: That of the class 'always', which every backup can be opened with.
    init(_ head: BackupHead, classKey: SymmetricKey) {
        key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: classKey, salt: head.salt,
            info: Data("swift-keychain/v1/backup".utf8) + Data(SHA256.hash(data: head.encoded)), outputByteCount: 32)
    }

    private mutating func nextNonce(isLast: Bool) throws -> AES.GCM.Nonce {
        defer { count += 1 }
        return try AES.GCM.Nonce(data: [0, 0, 0] + count.bigEndianBytes + [isLast ? 1 : 0])
    }

    mutating func seal(_ chunk: Data, isLast: Bool) throws -> Data {
        let box = try AES.GCM.seal(chunk, using: key, nonce: nextNonce(isLast: isLast))
        return box.ciphertext + box.tag
    }

    mutating func open(_ chunk: Data, isLast: Bool) throws -> Data {
        guard chunk.count >= Self.tagSize else { throw VaultError.corruptBackup(reason: "it ends early") }
        let nonce = try nextNonce(isLast: isLast)
        do {
            let box = try AES.GCM.SealedBox(
                nonce: nonce, ciphertext: chunk.dropLast(Self.tagSize), tag: chunk.suffix(Self.tagSize))
            return try AES.GCM.open(box, using: key)
        } catch {
            throw VaultError.corruptBackup(reason: "part \(count) of it was changed, or it ends early")
        }
    }
}

/// Writes a backup in pieces.
struct BackupWriter {
    private var stream: BackupStream
    private var pending = Data()
    /// What goes before the first chunk.
    private var head: Data?

    init(_ head: BackupHead, classKey: SymmetricKey) {
        stream = BackupStream(head, classKey: classKey)
        self.head = head.encoded
    }

    /// - Parameter send: Takes what is complete by now.
    mutating func write(_ bytes: Data, _ send: (Data) throws -> Void) throws {
        pending += bytes
        var start = pending.startIndex
        // The last chunk is marked, so one that may be the last waits.
        while pending.endIndex - start > BackupStream.chunkSize {
            try emit(pending[start..<(start + BackupStream.chunkSize)], isLast: false, send)
            start += BackupStream.chunkSize
        }
        pending = Data(pending[start...])
    }

    mutating func finish(_ send: (Data) throws -> Void) throws { try emit(pending, isLast: true, send) }

    private mutating func emit(_ chunk: Data, isLast: Bool, _ send: (Data) throws -> Void) throws {
        if let head {
            try send(head)
            self.head = nil
        }
        try send(stream.seal(chunk, isLast: isLast))
    }
}

/// Reads what ``BackupWriter`` wrote.
struct BackupPlaintext {
    private var stream: BackupStream
    private let input: BackupInput
    private var opened: [UInt8] = []
    /// How many of the opened bytes were read.
    private var position = 0
    /// The sealed chunk that comes next; empty after the last.
    private var next: Data

    private static let sealedSize = BackupStream.chunkSize + BackupStream.tagSize

    init(_ head: BackupHead, classKey: SymmetricKey, _ input: @escaping BackupInput) throws {
        stream = BackupStream(head, classKey: classKey)
        self.input = input
        next = try input(Self.sealedSize)
        // Also an empty vault has a last chunk.
        guard !next.isEmpty else { throw VaultError.corruptBackup(reason: "it ends early") }
    }

    mutating func read(_ count: Int) throws -> Data {
        while opened.count - position < count {
            guard !next.isEmpty else { throw VaultError.corruptBackup(reason: "it ends early") }
            let chunk = next
            next = chunk.count == Self.sealedSize ? try input(Self.sealedSize) : Data()
            opened.removeFirst(position)
            position = 0
            opened += try stream.open(chunk, isLast: next.isEmpty)
        }
        defer { position += count }
        return Data(opened[position..<(position + count)])
    }

    /// Checks that nothing follows.
    func finish() throws {
        guard position == opened.count, next.isEmpty else {
            throw VaultError.corruptBackup(reason: "something follows its end")
        }
    }
}
