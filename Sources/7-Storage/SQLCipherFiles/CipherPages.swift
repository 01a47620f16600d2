import Bytes
import Crypto
import DatabasePages
import PreparedKeys

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
    private let keys: PreparedCBC

    /// - Parameters:
    ///   - salt: The first 16 bytes of the file. With a plaintext header, the salt that the caller keeps.
    ///   - preparing: False for swift-crypto's own interface.
    /// - Throws: `CryptoKitError` for a salt or raw key of another size, and errors of swift-crypto and of memory.
    package init(key: SQLCipherKey, salt: [UInt8], format: CipherFormat, preparing: Bool = true) throws {
        guard salt.count == CipherFormat.saltSize else { throw CryptoKitError.incorrectParameterSize }
        let pageKey = try key.pageKey(format, salt: salt)
        (self.format, self.salt) = (format, salt)
        let code: (PreparedCBC.Hash, SymmetricKey)? =
            format.isAuthenticated
            ? (format.hash, try SQLCipherKey.authenticationKey(pageKey, format, salt: salt)) : nil
        keys = PreparedCBC(pageKey.symmetricKey, code: code, preparing: preparing)
    }

    /// Seals a page.
    ///
    /// - Parameters:
    ///   - page: The page from SQLite. Its reserved bytes are not stored.
    ///   - sealed: Room for a page. Must not overlap with `page`.
    package func seal(
        _ page: UnsafeRawBufferPointer, number: UInt32, into sealed: UnsafeMutableRawBufferPointer
    ) throws(PageError) {
        guard page.count == format.pageSize, sealed.count == format.pageSize, let source = page.baseAddress,
            let target = sealed.baseAddress
        else { throw .damaged(page: number) }
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
        var used: UInt64 = 0
        for offset in stride(from: end, to: format.pageSize, by: 8) {
            used |= source.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        guard used == 0 else { throw .reservedBytesInUse(page: number) }
        let trailer = UnsafeMutableRawBufferPointer(rebasing: sealed[end...])
        trailer.initializeMemory(as: UInt8.self, repeating: 0)
        try KernelRandom.fill(UnsafeMutableRawBufferPointer(rebasing: trailer[..<CipherFormat.blockSize]))
        guard keys.encrypt(source + start, count: end - start, vector: target + end, into: target + start) else {
            throw .memoryUnavailable
        }
        guard format.isAuthenticated else { return }
        guard authenticate(target, number, into: target + end + CipherFormat.blockSize) else {
            throw .memoryUnavailable
        }
    }

    /// Opens a page. Fills `page` with zeros if it does not open. The reserved bytes of an opened page are zeros.
    ///
    /// - Parameter page: Room for a page of SQLite. It may be the memory of `sealed`.
    package func open(
        _ sealed: UnsafeRawBufferPointer, number: UInt32, into page: UnsafeMutableRawBufferPointer
    ) throws(PageError) {
        guard page.count == format.pageSize, sealed.count == format.pageSize, let source = sealed.baseAddress,
            let target = page.baseAddress
        else {
            SecretBytes.wipe(page)
            throw .damaged(page: number)
        }
        let (start, end) = (start(of: number), format.pageSize - format.reserved)
        guard isAuthentic(sealed, number: number),
            keys.decrypt(source + start, count: end - start, vector: source + end, into: target + start)
        else {
            SecretBytes.wipe(page)
            throw .damaged(page: number)
        }
        if number == 1, format.plainHeaderSize == 0 {
            page.copyBytes(from: DatabaseHeader.plainMagic)
        } else if start > 0, UnsafeRawPointer(target) != source {
            page.copyMemory(from: UnsafeRawBufferPointer(rebasing: sealed[..<start]))
        }
        UnsafeMutableRawBufferPointer(rebasing: page[end...]).initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// Returns whether the page was sealed with this key for this number. Always true without an HMAC.
    package func isAuthentic(_ sealed: UnsafeRawBufferPointer, number: UInt32) -> Bool {
        guard sealed.count == format.pageSize, let base = sealed.baseAddress else { return false }
        guard format.isAuthenticated else { return true }
        let place = format.pageSize - format.reserved + CipherFormat.blockSize
        return withUnsafeTemporaryAllocation(byteCount: format.hash.byteCount, alignment: 8) { code in
            guard let room = code.baseAddress, authenticate(base, number, into: room) else { return false }
            let stored = UnsafeRawBufferPointer(rebasing: sealed[place..<(place + code.count)])
            return isEqualInConstantTime(stored, UnsafeRawBufferPointer(code))
        }
    }

    private func start(of number: UInt32) -> Int { number == 1 ? format.firstPageStart : 0 }

    /// Computes the HMAC of a sealed page. False if there is no memory.
    private func authenticate(
        _ sealed: UnsafeRawPointer, _ number: UInt32, into code: UnsafeMutableRawPointer
    ) -> Bool {
        let (start, end) = (start(of: number), format.pageSize - format.reserved + CipherFormat.blockSize)
        return keys.authenticate(
            sealed + start, count: end - start,
            number: format.pageNumbers == .little ? number.littleEndian : number.bigEndian, into: code)
    }
}
