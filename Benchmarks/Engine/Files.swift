import Crypto
import Foundation
import Glibc
import KeychainModel
import ProtectedFiles
import Vault
import VaultInterface

/// A protected file in this process, against what it is made of.
///
/// Everything is on the file system that `folder` is on, which is to be one in memory.
func measureFiles(in folder: String, mebibytes: Int, rounds: Int) throws {
    let scratch = "\(folder)/files-\(getpid())"
    try FileManager.default.createDirectory(
        atPath: scratch, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    let vault = try EmbeddedVault.open(at: scratch + "/vault")
    let session = VaultSession(vault: vault, client: SampleItems.client)
    let path = scratch + "/file"

    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4096)
    defer { piece.deallocate() }
    var random = FastRandom(seed: 7)
    for place in stride(from: 0, to: piece.count, by: 8) {
        piece.storeBytes(of: random.next(), toByteOffset: place, as: UInt64.self)
    }
    var (writing, copying) = (Samples(.processor), Samples(.processor))
    for _ in 0..<max(1, rounds / 3) {
        try writing.measure(operations: 1) {
            let writer = try SealedFileWriter(path, .complete, keys: session, durability: .process)
            for _ in 0..<mebibytes { try writer.write(UnsafeRawBufferPointer(piece)) }
            try writer.finish(replacing: true)
        }
        try copying.measure(operations: 1) { try fill(scratch + "/plain", with: piece, count: mebibytes) }
    }
    emit("files.write.engine", writing)
    emit("files.write.plain", copying)

    let file = try SealedFile(path, .reading, keys: session)
    let plain = open(scratch + "/plain", O_RDONLY | O_CLOEXEC)
    defer { close(plain) }
    let chunk = try SealedChunk()
    try measureReads(file, plain, into: piece, mebibytes, chunk, rounds)
    try measureRandomReads(file, plain, mebibytes << 20, chunk, rounds)
    try measureClassChange(path, session, rounds)
}

private func fill(_ path: String, with piece: UnsafeMutableRawBufferPointer, count: Int) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    for _ in 0..<count {
        guard write(descriptor, piece.baseAddress, piece.count) == piece.count else { throw POSIXError(.EIO) }
    }
}

/// A sealed chunk of 64 KiB in memory.
private struct SealedChunk {
    static let size = 65_536
    private let key = SymmetricKey(size: .bits256)
    private let box: AES.GCM.SealedBox

    init() throws { box = try AES.GCM.seal(Data(count: Self.size), using: key) }

    func open() throws {
        guard try AES.GCM.open(box, using: key).count == Self.size else { throw POSIXError(.EIO) }
    }
}

/// From beginning to end, against opening as many chunks in memory and against reading a plain file.
private func measureReads(
    _ file: SealedFile, _ plain: Int32, into piece: UnsafeMutableRawBufferPointer, _ mebibytes: Int,
    _ chunk: SealedChunk, _ rounds: Int
) throws {
    var (engine, cipher, floor) = (Samples(.processor), Samples(.processor), Samples(.processor))
    for _ in 0..<rounds {
        try engine.measure(operations: 1) {
            for number in 0..<mebibytes {
                guard try file.read(into: piece, at: UInt64(number) << 20) == piece.count else {
                    throw POSIXError(.EIO)
                }
            }
        }
        try cipher.measure(operations: 1) { for _ in 0..<(mebibytes * 16) { try chunk.open() } }
        try floor.measure(operations: 1) {
            for number in 0..<mebibytes {
                guard pread(plain, piece.baseAddress, piece.count, off_t(number) << 20) == piece.count else {
                    throw POSIXError(.EIO)
                }
            }
        }
    }
    emit("files.read.engine", engine)
    emit("files.read.cipher", cipher)
    emit("files.read.plain", floor)
}

/// 4 KiB anywhere, against reading as much of a plain file and opening one chunk in memory.
private func measureRandomReads(
    _ file: SealedFile, _ plain: Int32, _ size: Int, _ chunk: SealedChunk, _ rounds: Int
) throws {
    let count = 2_000
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 4096)
    defer { room.deallocate() }
    var random = FastRandom(seed: 11)
    let places = (0..<count).map { _ in Int.random(in: 0..<(size / 4096), using: &random) * 4096 }
    var (engine, floor) = (Samples(.processor), Samples(.processor))
    for _ in 0..<rounds {
        try engine.measure(operations: count) {
            for place in places {
                guard try file.read(into: room, at: UInt64(place)) == room.count else { throw POSIXError(.EIO) }
            }
        }
        try floor.measure(operations: count) {
            for place in places {
                guard pread(plain, room.baseAddress, room.count, off_t(place)) == room.count else {
                    throw POSIXError(.EIO)
                }
                try chunk.open()
            }
        }
    }
    emit("files.random.engine", engine)
    emit("files.random.floor", floor)
}

/// There and back, each counted, with waiting for the disk.
private func measureClassChange(_ path: String, _ session: VaultSession, _ rounds: Int) throws {
    var change = Samples(.elapsed)
    for round in 0..<(2 * rounds) {
        try change.measure(operations: 1) {
            let file = try SealedFile(path, .writing, keys: session, durability: .power)
            try file.changeClass(to: round % 2 == 0 ? .none : .complete, keys: session)
            file.close()
        }
    }
    emit("files.class", change)
}
