import CommonCrypto
import Foundation
import TestSupport
import Testing

@Suite struct CryptorTests {
    struct Cipher: Sendable, CustomTestStringConvertible {
        /// As `openssl enc` calls it.
        var name: String
        var algorithm: Int
        var mode: Int
        var keySize: Int
        var block: Int
        var ivSize: Int
        var testDescription: String { name }

        var isLegacy: Bool { algorithm != kCCAlgorithmAES && algorithm != kCCAlgorithm3DES }
        var hasPadding: Bool { block > 1 }
    }

    static let ciphers: [Cipher] =
        [16, 24, 32].flatMap { size in
            [
                ("ecb", kCCModeECB, 16, 0), ("cbc", kCCModeCBC, 16, 16), ("ctr", kCCModeCTR, 1, 16),
                ("ofb", kCCModeOFB, 1, 16), ("cfb", kCCModeCFB, 1, 16),
            ].map { name, mode, block, iv in
                Cipher(
                    name: "aes-\(size * 8)-\(name)", algorithm: kCCAlgorithmAES, mode: mode, keySize: size,
                    block: block,
                    ivSize: iv)
            }
        } + [
            Cipher(name: "des-ecb", algorithm: kCCAlgorithmDES, mode: kCCModeECB, keySize: 8, block: 8, ivSize: 0),
            Cipher(name: "des-cbc", algorithm: kCCAlgorithmDES, mode: kCCModeCBC, keySize: 8, block: 8, ivSize: 8),
            Cipher(
                name: "des-ede3-ecb", algorithm: kCCAlgorithm3DES, mode: kCCModeECB, keySize: 24, block: 8, ivSize: 0),
            Cipher(
                name: "des-ede3-cbc", algorithm: kCCAlgorithm3DES, mode: kCCModeCBC, keySize: 24, block: 8, ivSize: 8),
            Cipher(name: "rc4", algorithm: kCCAlgorithmRC4, mode: kCCModeRC4, keySize: 16, block: 1, ivSize: 0),
            Cipher(name: "rc2-40-cbc", algorithm: kCCAlgorithmRC2, mode: kCCModeCBC, keySize: 5, block: 8, ivSize: 8),
            Cipher(name: "rc2-64-cbc", algorithm: kCCAlgorithmRC2, mode: kCCModeCBC, keySize: 8, block: 8, ivSize: 8),
        ]
        + [("cast5", kCCAlgorithmCAST), ("rc2", kCCAlgorithmRC2), ("bf", kCCAlgorithmBlowfish)].flatMap {
            name, number in
            [
                ("ecb", kCCModeECB, 8, 0), ("cbc", kCCModeCBC, 8, 8), ("cfb", kCCModeCFB, 1, 8),
                ("ofb", kCCModeOFB, 1, 8),
            ].map { mode, modeNumber, block, iv in
                Cipher(
                    name: "\(name)-\(mode)", algorithm: number, mode: modeNumber, keySize: 16, block: block, ivSize: iv)
            }
        }

    /// What is done to a message, in pieces.
    private static func inPieces(
        _ operation: Int, _ cipher: Cipher, padding: Bool, key: Data, iv: Data, _ data: Data, cuts: [Int],
        reset: Bool = false
    ) throws -> Data {
        var created: CCCryptorRef?
        let status = key.withUnsafeBytes { key in
            iv.withUnsafeBytes { iv in
                CCCryptorCreateWithMode(
                    CCOperation(operation), CCMode(cipher.mode), CCAlgorithm(cipher.algorithm),
                    CCPadding(padding ? ccPKCS7Padding : ccNoPadding), iv.baseAddress, key.baseAddress, key.count, nil,
                    0, 0, CCModeOptions(kCCModeOptionCTR_BE), &created)
            }
        }
        try #require(status == kCCSuccess)
        let cryptor = try #require(created)
        defer { CCCryptorRelease(cryptor) }
        if reset {
            var (byte, moved) = ([UInt8](repeating: 0, count: 64), 0)
            CCCryptorUpdate(cryptor, byte, 33, &byte, 64, &moved)
            #expect(iv.withUnsafeBytes { CCCryptorReset(cryptor, $0.baseAddress) } == kCCSuccess)
        }
        var result = Data()
        var place = 0
        for cut in cuts + [data.count] {
            let piece = Array(data[place..<cut])
            place = cut
            let count = CCCryptorGetOutputLength(cryptor, piece.count, false)
            var output = [UInt8](repeating: 0, count: count)
            var moved = -1
            if count > 0 {
                #expect(
                    CCCryptorUpdate(cryptor, piece, piece.count, &output, count - 1, &moved) == kCCBufferTooSmall)
                #expect(moved == count)
            }
            #expect(CCCryptorUpdate(cryptor, piece, piece.count, &output, count, &moved) == kCCSuccess)
            #expect(moved == count)
            result += output
        }
        let count = CCCryptorGetOutputLength(cryptor, 0, true)
        var (output, moved) = ([UInt8](repeating: 0, count: max(count, 1)), -1)
        #expect(CCCryptorFinal(cryptor, &output, count, &moved) == kCCSuccess)
        return result + output.prefix(moved)
    }

    @Test(arguments: ciphers)
    func messagesAreThoseOfOpenSSLInAnyPieces(_ cipher: Cipher) throws {
        var random = SeededGenerator()
        let (key, iv) = (random.bytes(cipher.keySize), random.bytes(cipher.ivSize))
        for padding in cipher.hasPadding ? [true, false] : [false] {
            for size in [0, 1, 15, 16, 17, 33, 70_000] {
                let size = padding || !cipher.hasPadding ? size : size / cipher.block * cipher.block
                let data = random.bytes(size)
                var arguments = ["enc", "-\(cipher.name)", "-K", key.hex]
                if cipher.ivSize > 0 { arguments += ["-iv", iv.hex] }
                if !padding { arguments.append("-nopad") }
                if cipher.isLegacy { arguments += ["-provider", "legacy", "-provider", "default"] }
                let expected = try OpenSSLProgram.output(arguments, input: data)
                for _ in 0..<4 {
                    let cuts = (0..<3).map { _ in random.int(below: size + 1) }.sorted()
                    let sealed = try Self.inPieces(
                        kCCEncrypt, cipher, padding: padding, key: key, iv: iv, data, cuts: cuts)
                    #expect(sealed == expected, "\(size), \(cuts), seed \(random.seed)")
                    let backCuts = (0..<3).map { _ in random.int(below: sealed.count + 1) }.sorted()
                    let opened = try Self.inPieces(
                        kCCDecrypt, cipher, padding: padding, key: key, iv: iv, sealed, cuts: backCuts)
                    #expect(opened == data, "\(size), \(backCuts), seed \(random.seed)")
                }
            }
        }
    }

    @Test(arguments: ciphers.filter { [kCCModeCBC, kCCModeCTR].contains($0.mode) })
    func aResetMessageBeginsAgain(_ cipher: Cipher) throws {
        var random = SeededGenerator()
        let (key, iv, data) = (random.bytes(cipher.keySize), random.bytes(cipher.ivSize), random.bytes(100))
        for operation in [kCCEncrypt, kCCDecrypt] {
            let whole = data.prefix(96)
            #expect(
                try Self.inPieces(operation, cipher, padding: false, key: key, iv: iv, whole, cuts: [5])
                    == Self.inPieces(operation, cipher, padding: false, key: key, iv: iv, whole, cuts: [], reset: true))
        }
    }

    // MARK: One call

    private static func crypt(
        _ operation: Int, _ options: Int, key: Data, iv: Data?, _ data: Data, room: Int? = nil,
        algorithm: Int = kCCAlgorithmAES
    ) -> (status: CCCryptorStatus, moved: Int, output: Data) {
        let room = room ?? data.count + kCCBlockSizeAES128
        var (output, moved) = ([UInt8](repeating: 0xEE, count: room + 1), -1)
        let status = CCCrypt(
            CCOperation(operation), CCAlgorithm(algorithm), CCOptions(options), Array(key), key.count,
            iv.map(Array.init), Array(data), data.count, &output, room, &moved)
        #expect(output.last == 0xEE)
        return (status, moved, Data(output.prefix(max(0, min(moved, room)))))
    }

    private let key = Data((0..<16).map { UInt8($0) })
    private let iv = Data((16..<32).map { UInt8($0) })

    /// NIST SP 800-38A, F.2.1: the first block of CBC with AES-128.
    @Test func aPublishedMessage() {
        let key = Data(hex: "2b7e151628aed2a6abf7158809cf4f3c")
        let text = Data(hex: "6bc1bee22e409f96e93d7e117393172a")
        let iv = Data(hex: "000102030405060708090a0b0c0d0e0f")
        #expect(Self.crypt(kCCEncrypt, 0, key: key, iv: iv, text).output.hex == "7649abac8119b246cee98e9b12e9197d")
    }

    @Test func aMessageOverItself() {
        var buffer = [UInt8](repeating: 7, count: 48)
        var moved = 0
        let options = CCOptions(kCCOptionPKCS7Padding)
        let status = buffer.withUnsafeMutableBytes { bytes in
            CCCrypt(
                CCOperation(kCCEncrypt), CCAlgorithm(kCCAlgorithmAES), options, Array(key), 16, Array(iv),
                bytes.baseAddress, 40, bytes.baseAddress, 48, &moved)
        }
        #expect(status == kCCSuccess && moved == 48)
        let apart = Self.crypt(kCCEncrypt, kCCOptionPKCS7Padding, key: key, iv: iv, Data(repeating: 7, count: 40))
        #expect(Data(buffer) == apart.output)
    }

    @Test func theSizeThatIsNeededIsTold() {
        let data = Data(repeating: 1, count: 20)
        let small = Self.crypt(kCCEncrypt, kCCOptionPKCS7Padding, key: key, iv: iv, data, room: 31)
        #expect(small.status == kCCBufferTooSmall && small.moved == 32)
        let sealed = Self.crypt(kCCEncrypt, kCCOptionPKCS7Padding, key: key, iv: iv, data, room: 32)
        #expect(sealed.status == kCCSuccess && sealed.moved == 32)
        let opened = Self.crypt(kCCDecrypt, kCCOptionPKCS7Padding, key: key, iv: iv, sealed.output, room: 31)
        #expect(opened.status == kCCBufferTooSmall && opened.moved == 32)
        #expect(Self.crypt(kCCDecrypt, kCCOptionPKCS7Padding, key: key, iv: iv, sealed.output).output == data)
    }

    @Test func theEndCanBeAskedForAgainWithALargerBuffer() throws {
        let data = Data(repeating: 5, count: 20)
        for operation in [kCCEncrypt, kCCDecrypt] {
            let sealed = Self.crypt(kCCEncrypt, kCCOptionPKCS7Padding, key: key, iv: iv, data).output
            let (input, expected) = operation == kCCEncrypt ? (data, sealed) : (sealed, data)
            var created: CCCryptorRef?
            #expect(
                CCCryptorCreate(
                    CCOperation(operation), 0, CCOptions(kCCOptionPKCS7Padding), Array(key), 16, Array(iv), &created)
                    == kCCSuccess)
            let cryptor = try #require(created)
            defer { CCCryptorRelease(cryptor) }
            var (output, moved) = ([UInt8](repeating: 0, count: 32), 0)
            #expect(CCCryptorUpdate(cryptor, Array(input), input.count, &output, 32, &moved) == kCCSuccess)
            #expect(moved == 16)
            let left = expected.count - 16
            var (rest, ended) = ([UInt8](repeating: 0, count: 16), 0)
            for room in [0, left - 1] {
                #expect(CCCryptorFinal(cryptor, &rest, room, &ended) == kCCBufferTooSmall)
                #expect(ended == left)
            }
            #expect(CCCryptorFinal(cryptor, nil, 16, &ended) == kCCBufferTooSmall)
            #expect(CCCryptorFinal(cryptor, &rest, left, &ended) == kCCSuccess)
            #expect(Data(output.prefix(16) + rest.prefix(left)) == expected)
        }
    }

    @Test func noInitialValueMeansZeros() {
        let data = Data(repeating: 9, count: 32)
        #expect(
            Self.crypt(kCCEncrypt, 0, key: key, iv: nil, data).output
                == Self.crypt(kCCEncrypt, 0, key: key, iv: Data(count: 16), data).output)
    }

    @Test func partsOfBlocksAreRefused() {
        for size in [1, 15, 17] {
            let data = Data(repeating: 1, count: size)
            #expect(Self.crypt(kCCEncrypt, 0, key: key, iv: iv, data).status == kCCAlignmentError)
            #expect(Self.crypt(kCCDecrypt, 0, key: key, iv: iv, data).status == kCCAlignmentError)
            #expect(
                Self.crypt(kCCDecrypt, kCCOptionPKCS7Padding, key: key, iv: iv, data).status == kCCAlignmentError)
        }
    }

    /// As at Apple: the status does not tell whether the padding was right.
    @Test func aWrongPaddingIsNoError() {
        for last: UInt8 in [0, 3, 17, 255] {
            let text = Data(repeating: 2, count: 15) + [last]
            let sealed = Self.crypt(kCCEncrypt, 0, key: key, iv: iv, text).output
            let opened = Self.crypt(kCCDecrypt, kCCOptionPKCS7Padding, key: key, iv: iv, sealed)
            #expect(opened.status == kCCSuccess && opened.output == text)
        }
        let padded = Data(repeating: 2, count: 14) + [2, 2]
        let sealed = Self.crypt(kCCEncrypt, 0, key: key, iv: iv, padded).output
        #expect(Self.crypt(kCCDecrypt, kCCOptionPKCS7Padding, key: key, iv: iv, sealed).output == padded.dropLast(2))
        let whole = Self.crypt(kCCEncrypt, 0, key: key, iv: iv, Data(repeating: 16, count: 16)).output
        #expect(Self.crypt(kCCDecrypt, kCCOptionPKCS7Padding, key: key, iv: iv, whole).output.isEmpty)
    }

    @Test func whatIsNotOfferedAndWhatIsWrongAreToldApart() {
        let data = Data(count: 16)
        for size in [0, 1, 15, 17, 33] {
            #expect(Self.crypt(kCCEncrypt, 0, key: Data(count: size), iv: iv, data).status == kCCKeySizeError)
        }
        for (algorithm, sizes) in [
            (kCCAlgorithmCAST, [0, 4, 17]), (kCCAlgorithmRC2, [0, 129]), (kCCAlgorithmBlowfish, [0, 7, 57]),
        ] {
            for size in sizes {
                let status = Self.crypt(
                    kCCEncrypt, 0, key: Data(count: size), iv: iv, data, algorithm: algorithm
                ).status
                #expect(status == kCCKeySizeError, "\(algorithm), \(size)")
            }
        }
        #expect(Self.crypt(kCCEncrypt, 0, key: key, iv: iv, data, algorithm: 99).status == kCCParamError)
        #expect(Self.crypt(2, 0, key: key, iv: iv, data).status == kCCParamError)
        var cryptor: CCCryptorRef?
        for (algorithm, mode, size) in [
            (kCCAlgorithmAES, kCCModeCFB8, 16), (kCCAlgorithm3DES, kCCModeCTR, 24), (kCCAlgorithmDES, kCCModeOFB, 8),
            (kCCAlgorithmAES, 8, 16), (kCCAlgorithmCAST, kCCModeCTR, 16), (kCCAlgorithmRC2, kCCModeCFB8, 16),
            (kCCAlgorithmBlowfish, kCCModeRC4, 16),
        ] {
            let status = CCCryptorCreateWithMode(
                0, CCMode(mode), CCAlgorithm(algorithm), 0, nil, [UInt8](repeating: 1, count: size), size, nil, 0, 0, 0,
                &cryptor)
            #expect(status == kCCUnimplemented && cryptor == nil)
        }
        // A padding that does not exist, and a counter with its lowest byte first.
        for (mode, padding, options, expected) in [
            (kCCModeCBC, 2, 0, kCCParamError), (kCCModeCTR, 0, 1, kCCUnimplemented), (kCCModeCTR, 0, 2, kCCSuccess),
        ] {
            let status = CCCryptorCreateWithMode(
                0, CCMode(mode), 0, CCPadding(padding), nil, Array(key), 16, nil, 0, 0, CCModeOptions(options), &cryptor
            )
            #expect(status == expected)
            CCCryptorRelease(cryptor)
        }
        #expect(CCCryptorCreate(0, 0, 0, nil, 16, nil, &cryptor) == kCCParamError)
        #expect(CCCryptorCreate(0, 0, 0, Array(key), 16, nil, nil) == kCCParamError)
        #expect(CCCryptorUpdate(nil, nil, 0, nil, 0, nil) == kCCParamError)
        #expect(CCCryptorFinal(nil, nil, 0, nil) == kCCParamError)
        #expect(CCCryptorReset(nil, nil) == kCCParamError)
        #expect(CCCryptorRelease(nil) == kCCSuccess)
        var used = 1
        #expect(CCCryptorCreateFromData(0, 0, 0, Array(key), 16, nil, nil, 0, &cryptor, &used) == kCCSuccess)
        #expect(used == 0)
        #expect(CCCryptorUpdate(cryptor, nil, 16, nil, 0, nil) == kCCParamError)
        #expect(CCCryptorRelease(cryptor) == kCCSuccess)
    }
}
