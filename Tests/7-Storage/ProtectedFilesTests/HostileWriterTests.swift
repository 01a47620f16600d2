import Bytes
import Foundation
import TestSupport
import Testing

@testable import ProtectedFiles

/// Files that were made by somebody who has their keys, as whoever sends a file under a password does, and who wants to
/// harm the program that reads them.
@Suite struct HostileWriterTests {
    private static let data = Data(repeating: 7, count: 100_000)
    private let file: FileUnderTest

    init() throws { file = try FileUnderTest(Self.data) }

    /// Puts a record behind the file, with the right seals.
    private func putRecord(_ offset: UInt64, count: Int = 4096, _ change: (inout FileHeader) -> Void = { _ in }) throws
    {
        let core = try FileCore(file.path, writing: true, waitingForDisk: false, keys: file.keys)
        let secrets = try core.usableSecrets()
        var header = core.header
        header.generation += 1
        change(&header)
        try header.seal(secrets)
        let start: UInt64 = 1 << 18
        let block = (offset: offset, bytes: [UInt8](repeating: 0, count: count))
        let record = try JournalRecord(header, after: core.header.seal, [block], start: start, secrets)
        try record.bytes.withBytes { bytes in try core.file.write(bytes, at: start) }
    }

    private static let places: [UInt64] = [
        0, 1, 0x3_F001, 0x4_0000, 0x4000_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000,
        0xFFFF_FFFF_FFFF_F000, 0xFFFF_FFFF_FFFF_FFFF,
    ]

    @Test(arguments: places)
    func recordForAPlaceOutsideOfTheFile(_ offset: UInt64) throws {
        try putRecord(offset)
        #expect(try file.contents() == Self.data)
        try file.open(.writing).append(Data([1]))
        #expect(try file.contents() == Self.data + [1])
    }

    /// A few KiB that say of themselves to be 16 TiB.
    @Test func recordThatMakesTheFileHuge() throws {
        try putRecord(4096) { $0.length = FileLayout.maximumLength }
        #expect(try file.open().length == UInt64(clamping: Self.data.count))
    }

    @Test func lastGeneration() throws {
        let core = try FileCore(file.path, writing: true, waitingForDisk: false, keys: file.keys)
        var header = core.header
        header.generation = .max
        try header.seal(core.usableSecrets())
        try core.writeHeader(header)
        let open = try file.open(.writing)
        #expect(throws: SealedFileError.keyExhausted(path: file.path)) { try open.append(Data([1])) }
        #expect(try file.contents() == Self.data)
    }
}
