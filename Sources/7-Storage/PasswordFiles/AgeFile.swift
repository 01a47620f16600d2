import Bytes
import Crypto
import FoundationEssentials
import ProtectedFiles

/// A file that age encrypted with a passphrase (age-encryption.org/v1), read from beginning to end.
package struct AgeFile {
    private static let chunkSize = 65_536
    private static let tagSize = 16
    private static let nonceSize = 16

    private let input: any ByteStream
    private let path: String
    private let header: AgeHeader

    /// The cost of trying a passphrase.
    package var cost: PasswordCost { header.cost }

    /// - Parameter input: At the start of the file, which may be armored.
    package init(_ input: any ByteStream, path: String) throws(SealedFileError) {
        let isArmored = try Self.isArmored(input)
        self.input = isArmored ? try AgeArmor(input, path: path) : input
        self.path = path
        header = try Self.header(self.input, path)
    }

    /// Returns whether the bytes are the start of an age file.
    package static func begins(_ input: any ByteStream) throws(SealedFileError) -> Bool {
        if try isArmored(input) { return true }
        let first = Data("age-encryption.org/".utf8)
        return try input.peek(first.count) == first
    }

    private static func isArmored(_ input: any ByteStream) throws(SealedFileError) -> Bool {
        let begin = Data(AgeArmor.begin.utf8)
        return try input.peek(begin.count) == begin
    }

    private static func header(_ input: any ByteStream, _ path: String) throws(SealedFileError) -> AgeHeader {
        try AgeHeader(input, path: path)
    }

    /// Passes the data to `write`, each piece after its tag was verified.
    ///
    /// - Throws: ``SealedFileError/wrongPassword(path:)`` before `write` gets any data.
    package func decrypt(
        _ passphrase: SecretBytes, write: (UnsafeRawBufferPointer) throws(SealedFileError) -> Void
    ) throws(SealedFileError) {
        let fileKey = try header.fileKey(passphrase, path: path)
        let nonce = try input.read(Self.nonceSize)
        guard nonce.count == Self.nonceSize else { throw .truncated(path: path) }
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: fileKey, salt: nonce, info: Data("payload".utf8), outputByteCount: 32)
        var number: UInt64 = 0
        while true {
            let sealed = try input.read(Self.chunkSize + Self.tagSize)
            let isLast = try input.peek(1).isEmpty
            // Only a file without data has an empty chunk.
            guard sealed.count > Self.tagSize || (sealed.count == Self.tagSize && number == 0) else {
                throw .truncated(path: path)
            }
            guard var data = Self.open(sealed, number, isLast: isLast, key) else {
                // A chunk that opens as one in the middle shows that the file was cut.
                let isCut = isLast && Self.open(sealed, number, isLast: false, key) != nil
                throw isCut ? .truncated(path: path) : .damaged(path: path, part: .chunk(number))
            }
            try data.withBytes(write)
            data.resetBytes(in: data.startIndex..<data.endIndex)
            if isLast { return }
            number += 1
        }
    }

    private static func open(_ sealed: Data, _ number: UInt64, isLast: Bool, _ key: SymmetricKey) -> Data? {
        var combined = Data(count: 3)
        combined.append(bigEndian: number)
        combined.append(isLast ? 1 : 0)
        combined.append(sealed)
        guard let box = try? ChaChaPoly.SealedBox(combined: combined) else { return nil }
        return try? ChaChaPoly.open(box, using: key)
    }
}
