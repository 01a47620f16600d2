import Bytes
import Crypto
import Foundation
import PreparedKeys
import Testing

/// A message under a key of its own, which another key wraps; and prepared keys in memory of the caller.
@Suite struct WrappedKeyAEADTests {
    private struct Message {
        let wrappingKey = SymmetricKey(size: .bits256)
        var wrapped: Data
        var nonce: Data
        var sealed: Data
        var tag: Data
        var binding: Data
        let text: Data

        init(count: Int) throws {
            text = Data([UInt8].random(count: count))
            binding = Data([UInt8].random(count: 40))
            let key = SymmetricKey(size: .bits256)
            wrapped = try AES.KeyWrap.wrap(key, using: wrappingKey)
            let box = try AES.GCM.seal(text, using: key, authenticating: binding)
            (nonce, sealed, tag) = (Data(box.nonce), Data(box.ciphertext), Data(box.tag))
        }

        func open(preparing: Bool, under key: SymmetricKey? = nil) throws -> Data {
            var opened = Data(count: text.count)
            try opened.withUnsafeMutableBytes { opened in
                try sealed.withUnsafeBytes { sealed in
                    try wrapped.withUnsafeBytes { wrapped in
                        try nonce.withUnsafeBytes { nonce in
                            try binding.withUnsafeBytes { binding in
                                try tag.withUnsafeBytes { tag in
                                    try WrappedKeyAEAD.open(
                                        sealed, wrapped: wrapped, under: key ?? wrappingKey, nonce: nonce,
                                        binding: binding, tag: tag, into: opened, preparing: preparing)
                                }
                            }
                        }
                    }
                }
            }
            return opened
        }
    }

    @Test(arguments: [true, false])
    func opensWhatSwiftCryptoSealed(preparing: Bool) throws {
        for count in [0, 1, 15, 16, 32, 1_000, 100_000] {
            let message = try Message(count: count)
            #expect(try message.open(preparing: preparing) == message.text, "\(count) bytes")
        }
    }

    @Test(arguments: [true, false])
    func tellsAWrongKeyFromAWrongTag(preparing: Bool) throws {
        let message = try Message(count: 32)
        #expect(throws: WrappedKeyAEAD.Failure.wrongKey) {
            try message.open(preparing: preparing, under: SymmetricKey(size: .bits256))
        }
        var changed = message
        changed.wrapped[39] ^= 1
        #expect(throws: WrappedKeyAEAD.Failure.wrongKey) { try changed.open(preparing: preparing) }
        let parts: [WritableKeyPath<Message, Data>] = [\.nonce, \.sealed, \.tag, \.binding]
        for part in parts {
            var changed = message
            changed[keyPath: part][3] ^= 0x10
            #expect(throws: WrappedKeyAEAD.Failure.wrongTag) { try changed.open(preparing: preparing) }
        }
    }

    @Test(arguments: [true, false])
    func swiftCryptoOpensWhatIsSealed(preparing: Bool) throws {
        let wrappingKey = SymmetricKey(size: .bits256)
        for count in [0, 1, 16, 33, 1_000] {
            let text = [UInt8].random(count: count)
            var wrapped = [UInt8](repeating: 0, count: WrappedKeyAEAD.wrappedSize)
            var (sealed, tag) = ([UInt8](repeating: 0, count: count), [UInt8](repeating: 0, count: 16))
            let (nonce, binding) = ([UInt8].random(count: 12), [UInt8].random(count: 20))
            let isSealed = wrapped.withUnsafeMutableBytes { wrapped in
                sealed.withUnsafeMutableBytes { sealed in
                    tag.withUnsafeMutableBytes { tag in
                        text.withUnsafeBytes { text in
                            nonce.withUnsafeBytes { nonce in
                                binding.withUnsafeBytes { binding in
                                    WrappedKeyAEAD.seal(
                                        text, under: wrappingKey, wrapped: wrapped, nonce: nonce, binding: binding,
                                        into: sealed, tag: tag, preparing: preparing)
                                }
                            }
                        }
                    }
                }
            }
            #expect(isSealed)
            let key = try AES.KeyWrap.unwrap(wrapped, using: wrappingKey)
            let box = try AES.GCM.SealedBox(nonce: AES.GCM.Nonce(data: nonce), ciphertext: sealed, tag: tag)
            #expect(try AES.GCM.open(box, using: key, authenticating: binding) == Data(text), "\(count) bytes")
        }
    }

    /// RFC 3394, 4.6: a key of 256 bits wrapped with another.
    @Test func knownWrap() throws {
        let wrappingKey = SymmetricKey(
            data: try #require(
                [UInt8](hexadecimal: "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F".utf8)))
        let key = try #require(
            [UInt8](hexadecimal: "00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F".utf8))
        let wrapped = try #require(
            [UInt8](
                hexadecimal: "28C9F404C4B810F4CBCCB35CFB87F8263F5786E2D80ED326CBC7F0E71A99F43BFB988B9B7A02DD21".utf8))
        let box = try AES.GCM.seal(Data("text".utf8), using: SymmetricKey(data: key), authenticating: Data([1]))
        var opened = [UInt8](repeating: 0, count: 4)
        let (nonce, tag) = (Array(box.nonce), Array(box.tag))
        try opened.withUnsafeMutableBytes { opened in
            try Array(box.ciphertext).withUnsafeBytes { sealed in
                try wrapped.withUnsafeBytes { wrapped in
                    try nonce.withUnsafeBytes { nonce in
                        try tag.withUnsafeBytes { tag in
                            try [UInt8](arrayLiteral: 1).withUnsafeBytes { binding in
                                try WrappedKeyAEAD.open(
                                    sealed, wrapped: wrapped, under: wrappingKey, nonce: nonce, binding: binding,
                                    tag: tag, into: opened)
                            }
                        }
                    }
                }
            }
        }
        #expect(opened == Array("text".utf8))
    }

    private final class Room {
        let base = UnsafeMutableRawBufferPointer.allocate(byteCount: PreparedAEAD.room, alignment: 16)
        deinit { base.deallocate() }
    }

    @Test(arguments: [PreparedAEAD.Algorithm.aesGCM, .chaChaPoly])
    func aKeyInMemoryOfTheCallerIsTheSame(_ algorithm: PreparedAEAD.Algorithm) throws {
        let key = SymmetricKey(size: .bits256)
        let placed = PreparedAEAD(algorithm, key) { place in
            let room = Room()
            place(room.base)
            return room
        }
        let other = PreparedAEAD(algorithm, key, preparing: false)
        #expect(placed.isPrepared && !other.isPrepared)
        let text = [UInt8].random(count: 100)
        var (sealed, opened) = ([UInt8](repeating: 0, count: 100), [UInt8](repeating: 0, count: 100))
        var tag = [UInt8](repeating: 0, count: 16)
        let (nonce, binding) = ([UInt8].random(count: 12), [UInt8].random(count: 20))
        #expect(
            placed.seal(
                text, count: 100, nonce: nonce, binding: binding, bindingCount: 20, into: &sealed, tag: &tag))
        #expect(
            other.open(sealed, count: 100, nonce: nonce, binding: binding, bindingCount: 20, tag: tag, into: &opened))
        #expect(opened == text)
        tag[0] ^= 1
        #expect(
            !placed.open(sealed, count: 100, nonce: nonce, binding: binding, bindingCount: 20, tag: tag, into: &opened))
    }

    /// BoringSSL says in a header that programs do not see how much it needs.
    @Test(arguments: [PreparedAEAD.Algorithm.aesGCM, .chaChaPoly])
    func aKeyStaysInItsRoom(_ algorithm: PreparedAEAD.Algorithm) {
        final class LongRoom {
            let base = UnsafeMutableRawBufferPointer.allocate(byteCount: PreparedAEAD.room + 3072, alignment: 16)
            deinit { base.deallocate() }
        }
        let room = LongRoom()
        room.base.initializeMemory(as: UInt8.self, repeating: 0xA5)
        let cipher = PreparedAEAD(algorithm, SymmetricKey(size: .bits256)) { place in
            place(room.base)
            return room
        }
        #expect(cipher.isPrepared)
        #expect(room.base[PreparedAEAD.room...].allSatisfy { $0 == 0xA5 })
        #expect(!room.base[..<PreparedAEAD.room].allSatisfy { $0 == 0xA5 })
    }

    @Test func roomThatIsTooSmallIsNotUsed() {
        let cipher = PreparedAEAD(.aesGCM, SymmetricKey(size: .bits256)) { place in
            let room = Room()
            place(UnsafeMutableRawBufferPointer(rebasing: room.base.dropLast(1)))
            return room
        }
        #expect(!cipher.isPrepared)
    }
}
