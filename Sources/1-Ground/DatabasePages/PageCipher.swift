import Bytes

/// The cipher for the pages of one database. Any number of threads may use it at once.
///
/// A sealed page of P bytes is the ciphertext of its first P - 48 bytes and of 8 more, then the epoch (12), the nonce
/// (12) and the tag (16). The first page of the main file begins with the ``DatabaseHeader`` instead of the ciphertext
/// of its first 16 bytes, which are the same in all databases.
package final class PageCipher: Sendable {
    package let header: DatabaseHeader
    private let headerBytes: [UInt8]
    private let binding: PageBinding.Start
    /// One cache for each of the threads that work at once. A single thread uses only the first one.
    private let caches: [PageKeyCache]

    private static let nonceSize = 12
    private static let gap = PageEpoch.byteCount + nonceSize

    /// - Parameter key: The database's key, of 32 bytes.
    package convenience init(key: SecretBytes, header: DatabaseHeader) {
        self.init(key: key, header: header, preparing: true)
    }

    init(key: SecretBytes, header: DatabaseHeader, preparing: Bool) {
        self.header = header
        headerBytes = header.bytes
        binding = PageBinding.Start(header)
        let secret = PageSecret(key, header.database, preparing: preparing)
        caches = (0..<8).map { _ in PageKeyCache(secret) }
    }

    package var pageSize: Int { header.geometry.pageSize }

    /// Seals a page.
    ///
    /// - Parameters:
    ///   - page: The page from SQLite. Its last 48 bytes are zeros.
    ///   - extra: Eight bytes that are sealed with the page: in a log or journal the checksum; in the main file the
    ///     batch that the transaction started from if no journal has a copy of the page, otherwise 0.
    ///   - sealed: Room for a page. Must not overlap with `page`.
    /// - Returns: The version of this seal, for the page index.
    package func seal(
        _ page: UnsafeRawBufferPointer, extra: UInt64, at place: PagePlace, into sealed: UnsafeMutableRawBufferPointer
    ) throws(PageError) -> PageVersion {
        let usable = header.geometry.usableSize
        guard page.count == pageSize, sealed.count == pageSize, let target = sealed.baseAddress else {
            throw .damaged(page: place.page)
        }
        try check(page, place)
        let start = clearCount(place)
        for index in 0..<start { sealed[index] = headerBytes[index] }
        let text = UnsafeRawBufferPointer(rebasing: page[start..<usable])
        let binding = PageBinding(binding, place)
        let epochPlace = target + usable + PageKey.extraSize
        let noncePlace = epochPlace + PageEpoch.byteCount
        return try withCache { (cache) throws(PageError) in
            while true {
                let (epoch, key) = try cache.nextForSealing()
                epoch.store(to: epochPlace)
                try KernelRandom.fill(UnsafeMutableRawBufferPointer(start: noncePlace, count: Self.nonceSize))
                try key.seal(
                    text, extra: extra, binding: binding, nonce: noncePlace, into: target + start, gap: Self.gap)
                let version = Self.version(of: UnsafeRawBufferPointer(sealed))
                // Zero means 'no page' in the page index.
                if version.rawValue != 0 { return version }
            }
        }
    }

    /// Opens a page. Fills `page` with zeros if it does not open.
    ///
    /// - Parameter page: Room for a page of SQLite. It may be the memory of `sealed`.
    package func open(
        _ sealed: UnsafeRawBufferPointer, at place: PagePlace, into page: UnsafeMutableRawBufferPointer
    ) throws(PageError) -> (version: PageVersion, extra: UInt64) {
        let usable = header.geometry.usableSize
        guard page.count == pageSize, sealed.count == pageSize, let source = sealed.baseAddress,
            let target = page.baseAddress
        else {
            throw .damaged(page: place.page)
        }
        let start = clearCount(place)
        let version = Self.version(of: sealed)
        let binding = PageBinding(binding, place)
        let epochPlace = source + usable + PageKey.extraSize
        let isOurs = start == 0 || sealed.prefix(start).elementsEqual(headerBytes)
        let extra = try withCache { (cache) throws(PageError) -> UInt64? in
            guard isOurs else { return nil }
            return cache.key(of: PageEpoch(epochPlace)).open(
                source + start, binding: binding, nonce: epochPlace + PageEpoch.byteCount, into: target + start,
                count: usable - start, gap: Self.gap)
        }
        guard let extra else {
            SecretBytes.wipe(page)
            throw .damaged(page: place.page)
        }
        for index in 0..<start { page[index] = DatabaseHeader.plainMagic[index] }
        UnsafeMutableRawBufferPointer(rebasing: page[usable...]).initializeMemory(as: UInt8.self, repeating: 0)
        return (version, extra)
    }

    /// Returns the version of a sealed page, which differs between its seals: the first half of the tag.
    package static func version(of sealed: UnsafeRawBufferPointer) -> PageVersion {
        let place = sealed.count - PageKey.tagSize
        guard place >= 0 else { return PageVersion(rawValue: 0) }
        return PageVersion(rawValue: sealed.bigEndian(at: place))
    }

    /// Returns how many bytes at the start of a page are replaced by the header.
    private func clearCount(_ place: PagePlace) -> Int {
        if case .main(1) = place { DatabaseHeader.byteCount } else { 0 }
    }

    /// Refuses a page that would not be the same after opening.
    private func check(_ page: UnsafeRawBufferPointer, _ place: PagePlace) throws(PageError) {
        let usable = header.geometry.usableSize
        var used: UInt64 = 0
        for offset in stride(from: usable, to: pageSize, by: 8) {
            used |= page.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        guard used == 0 else { throw .reservedBytesInUse(page: place.page) }
        guard place.page == 1 else { return }
        guard page.starts(with: DatabaseHeader.plainMagic), page[20] >= UInt8(truncatingIfNeeded: PageGeometry.reserved)
        else {
            throw .notFirstPage
        }
    }

    private func withCache<Value>(
        _ body: (PageKeyCache) throws(PageError) -> Value
    ) throws(PageError) -> Value {
        for cache in caches {
            if let value = try cache.withLockIfAvailable(body) { return value }
        }
        guard let value = try caches[0].withLock(body) else { throw .memoryUnavailable }
        return value
    }
}
