import Bytes
import CLibrary

/// Room for the pages of a database.
package final class PageRoom {
    /// The size of a page in bytes.
    package let size: Int
    /// The bytes at the end of each page for its seal.
    package let reserved: Int
    /// Room for a sealed page with the bytes before and after it in a log or journal. Only the holder of the
    /// connection's lock uses it.
    package let scratch: UnsafeMutableRawPointer
    /// Room for a plaintext page.
    package let clear: UnsafeMutableRawPointer

    private static let room = 64

    package init(size: Int, reserved: Int) {
        (self.size, self.reserved) = (size, reserved)
        scratch = .allocate(byteCount: size + Self.room, alignment: 64)
        clear = .allocate(byteCount: size + Self.room, alignment: 64)
        memset(scratch, 0, size + Self.room)
        memset(clear, 0, size + Self.room)
    }

    deinit {
        explicit_bzero(clear, size + Self.room)
        scratch.deallocate()
        clear.deallocate()
    }

    /// Refuses a first page for pages of another size.
    package func check(firstPage bytes: UnsafeRawPointer) throws(VFSFailure) {
        let stated = Int(bytes.loadUnaligned(fromByteOffset: 16, as: UInt16.self).bigEndian)
        guard stated == size & 0xFFFF || stated == 1 && size == 65_536 else {
            throw .pageSizeChange(from: size, to: stated == 1 ? 65_536 : stated)
        }
    }
}

/// The bytes 24..<40 of the first page, in which SQLite sees changes, with a part of its seal that differs each time
/// the page is sealed.
package struct FirstPage<Seal> {
    package let seal: Seal
    package let changes: (UInt64, UInt64)

    /// - Parameter page: The plaintext page.
    package init(_ page: UnsafeRawPointer, seal: Seal) {
        self.seal = seal
        changes = (
            page.loadUnaligned(fromByteOffset: 24, as: UInt64.self),
            page.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
        )
    }
}
