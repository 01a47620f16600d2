import Bytes
import Crypto
import Foundation
import Testing

@testable import ProtectedFiles

/// A chunk is the same whether its key was prepared or given to swift-crypto each time.
@Suite struct ChunkCipherTests {
    private static let key = SymmetricKey(size: .bits256)
    private static let file = [UInt8](repeating: 7, count: 16)
    private static let prepared = ChunkCipher(key: key, file: file)
    private static let plain = ChunkCipher(key: key, file: file, preparing: false)

    private static func sealed(
        _ text: [UInt8], _ cipher: ChunkCipher, chunk: UInt64
    ) throws -> (ciphertext: [UInt8], entry: IndexEntry) {
        var ciphertext = [UInt8](repeating: 0, count: text.count)
        let entry = try text.withUnsafeBytes { text in
            try ciphertext.withUnsafeMutableBytes { try cipher.seal(text, chunk: chunk, into: $0) }
        }
        return (ciphertext, entry)
    }

    private static func opened(
        _ ciphertext: [UInt8], _ cipher: ChunkCipher, chunk: UInt64, entry: IndexEntry
    ) -> [UInt8]? {
        var bytes = ciphertext
        return bytes.withUnsafeMutableBytes { cipher.open($0, chunk: chunk, entry: entry) } ? bytes : nil
    }

    @Test(arguments: [1, 15, 16, 4095, 65536], [false, true])
    func eachOpensWhatTheOtherSealed(count: Int, isPrepared: Bool) throws {
        let text = [UInt8].random(count: count)
        let (one, other) = isPrepared ? (Self.prepared, Self.plain) : (Self.plain, Self.prepared)
        let (ciphertext, entry) = try Self.sealed(text, one, chunk: 3)
        #expect(ciphertext != text || count < 8)
        #expect(Self.opened(ciphertext, other, chunk: 3, entry: entry) == text)
        #expect(Self.opened(ciphertext, one, chunk: 3, entry: entry) == text)
        #expect(Self.opened(ciphertext, other, chunk: 4, entry: entry) == nil)
        var changed = ciphertext
        changed[count / 2] ^= 1
        for cipher in [one, other] {
            #expect(Self.opened(changed, cipher, chunk: 3, entry: entry) == nil)
            #expect(Self.opened(Array(ciphertext.dropLast()), cipher, chunk: 3, entry: entry) == nil)
        }
    }

    /// Nobody is handed text that was not verified.
    @Test func noTextIsLeftWhereAChunkWasDamaged() throws {
        let text = [UInt8](repeating: 0x41, count: 65536)
        var (ciphertext, entry) = try Self.sealed(text, Self.prepared, chunk: 0)
        ciphertext[0] ^= 1
        #expect(!ciphertext.withUnsafeMutableBytes { Self.prepared.open($0, chunk: 0, entry: entry) })
        #expect(ciphertext.firstRange(of: [UInt8](repeating: 0x41, count: 16)) == nil)
    }
}
