import Bytes
import Crypto
import CryptoExtras
import FoundationEssentials

/// SQLCipher's seal of the pages of one file. Any number of threads may use it at once.
///
/// A sealed page is the AES-256-CBC ciphertext of everything before the reserved bytes, an initialization vector of 16
/// bytes and the HMAC over both and over the page's number; zeros fill the last block. In place of the first 16 bytes
/// of page 1 stands the salt. A page has the same form in the file, in the journal and in the log.
///
/// The HMAC covers one page alone: an older page of the same number opens.
package final class CipherPages: Sendable {
    package let format: CipherFormat
    package let salt: [UInt8]
    private let key: SymmetricKey
    /// Nil in files without an HMAC.
    private let authentication: SymmetricKey?

    /// - Parameter salt: The first 16 bytes of the file. With a plaintext header, the salt that the caller keeps.
    /// - Throws: `CryptoKitError` for a salt or raw key of another size, and errors of swift-crypto and of memory.
    package init(key: SQLCipherKey, salt: [UInt8], format: CipherFormat) throws {
        guard salt.count == CipherFormat.saltSize else { throw CryptoKitError.incorrectParameterSize }
        let pageKey = try key.pageKey(format, salt: salt)
        (self.format, self.salt, self.key) = (format, salt, pageKey.symmetricKey)
        authentication =
            format.isAuthenticated ? try SQLCipherKey.authenticationKey(pageKey, format, salt: salt) : nil
    }

    /// Seals a page.
    ///
    /// - Parameters:
    ///   - page: The page from SQLite. Its reserved bytes are not stored.
    ///   - sealed: Room for a page. Must not overlap with `page`.
    package func seal(
        _ page: UnsafeRawBufferPointer, number: UInt32, into sealed: UnsafeMutableRawBufferPointer
    ) throws(PageError) {
        guard page.count == format.pageSize, sealed.count == format.pageSize else { throw .damaged(page: number) }
        let (start, end) = (start(of: number), format.pageSize - format.reserved)
        // SQLite must leave the room that the seal takes.
        if number == 1 {
            guard page[20] >= format.reserved else { throw .notFirstPage }
            if format.plainHeaderSize == 0 {
                guard page.starts(with: DatabaseHeader.plainMagic) else { throw .notFirstPage }
                sealed.copyBytes(from: salt)
            } else {
                sealed.copyMemory(from: UnsafeRawBufferPointer(rebasing: page[..<start]))
            }
        }
        guard page[end...].allSatisfy({ $0 == 0 }) else { throw .reservedBytesInUse(page: number) }
        let trailer = UnsafeMutableRawBufferPointer(rebasing: sealed[end...])
        trailer.initializeMemory(as: UInt8.self, repeating: 0)
        try KernelRandom.fill(UnsafeMutableRawBufferPointer(rebasing: trailer[..<CipherFormat.blockSize]))
        let text = UnsafeRawBufferPointer(rebasing: page[start..<end])
        guard let vector = vector(in: UnsafeRawBufferPointer(sealed)),
            let ciphertext = try? AES._CBC.encrypt(text, using: key, iv: vector, noPadding: true),
            ciphertext.count == text.count
        else { throw .memoryUnavailable }
        UnsafeMutableRawBufferPointer(rebasing: sealed[start..<end]).copyBytes(from: ciphertext)
        withCode(over: UnsafeRawBufferPointer(sealed), number) { code in
            UnsafeMutableRawBufferPointer(rebasing: trailer[CipherFormat.blockSize...]).copyMemory(from: code)
        }
    }

    /// Opens a page. Fills `page` with zeros if it does not open. The reserved bytes of an opened page are zeros.
    ///
    /// - Parameter page: Room for a page of SQLite. It may be the memory of `sealed`.
    package func open(
        _ sealed: UnsafeRawBufferPointer, number: UInt32, into page: UnsafeMutableRawBufferPointer
    ) throws(PageError) {
        guard page.count == format.pageSize, sealed.count == format.pageSize else {
            SecretBytes.wipe(page)
            throw .damaged(page: number)
        }
        let (start, end) = (start(of: number), format.pageSize - format.reserved)
        guard isAuthentic(sealed, number: number), let vector = vector(in: sealed),
            var text = try? AES._CBC.decrypt(
                UnsafeRawBufferPointer(rebasing: sealed[start..<end]), using: key, iv: vector, noPadding: true)
        else {
            SecretBytes.wipe(page)
            throw .damaged(page: number)
        }
        defer { text.withUnsafeMutableBytes { SecretBytes.wipe($0) } }
        if number == 1, format.plainHeaderSize == 0 {
            page.copyBytes(from: DatabaseHeader.plainMagic)
        } else if start > 0, page.baseAddress != sealed.baseAddress.map({ UnsafeMutableRawPointer(mutating: $0) }) {
            page.copyMemory(from: UnsafeRawBufferPointer(rebasing: sealed[..<start]))
        }
        UnsafeMutableRawBufferPointer(rebasing: page[start..<end]).copyBytes(from: text)
        UnsafeMutableRawBufferPointer(rebasing: page[end...]).initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// Returns whether the page was sealed with this key for this number. Always true without an HMAC.
    package func isAuthentic(_ sealed: UnsafeRawBufferPointer, number: UInt32) -> Bool {
        guard sealed.count == format.pageSize else { return false }
        var isEqual = true
        withCode(over: sealed, number) { code in
            let place = format.pageSize - format.reserved + CipherFormat.blockSize
            let stored = UnsafeRawBufferPointer(rebasing: sealed[place..<(place + code.count)])
            isEqual = isEqualInConstantTime(stored, code)
        }
        return isEqual
    }

    private func start(of number: UInt32) -> Int { number == 1 ? format.firstPageStart : 0 }

    private func vector(in sealed: UnsafeRawBufferPointer) -> AES._CBC.IV? {
        let place = format.pageSize - format.reserved
        return try? AES._CBC.IV(ivBytes: sealed[place..<(place + CipherFormat.blockSize)])
    }

    /// Passes the HMAC over a sealed page to `body`. Does not call it if pages have none.
    private func withCode(
        over sealed: UnsafeRawBufferPointer, _ number: UInt32, to body: (UnsafeRawBufferPointer) -> Void
    ) {
        guard let authentication else { return }
        let end = format.pageSize - format.reserved + CipherFormat.blockSize
        let text = UnsafeRawBufferPointer(rebasing: sealed[start(of: number)..<end])
        let bytes = format.pageNumbers == .little ? number.littleEndian : number.bigEndian
        func code<Function: HashFunction>(_: Function.Type) {
            var code = HMAC<Function>(key: authentication)
            code.update(data: text)
            withUnsafeBytes(of: bytes) { code.update(data: $0) }
            code.finalize().withUnsafeBytes(body)
        }
        switch format.hash {
        case .sha1: code(Insecure.SHA1.self)
        case .sha512: code(SHA512.self)
        }
    }
}
