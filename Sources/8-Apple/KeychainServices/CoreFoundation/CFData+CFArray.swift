import Foundation

/// Data over memory that belongs to somebody else.
///
/// - Parameters:
///   - allocator: Ignored; pass `nil`.
///   - bytes: The memory. Nothing is copied: it must stay as it is for as long as the data exists.
///   - length: How many bytes.
///   - bytesDeallocator: ``kCFAllocatorNull`` if the memory is not to be freed. Otherwise it must come from `malloc`,
///     and is freed together with the data.
@discardableResult
public func CFDataCreateWithBytesNoCopy(
    _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex, _ bytesDeallocator: CFAllocator!
) -> CFData! {
    guard let bytes, length >= 0 else { return NSData() }
    return NSData(
        bytesNoCopy: UnsafeMutablePointer(mutating: bytes), length: length,
        freeWhenDone: bytesDeallocator !== kCFAllocatorNull)
}

/// The bytes of data, which stay where they are for as long as the data exists.
@discardableResult
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! {
    theData?.bytes.assumingMemoryBound(to: UInt8.self)
}

/// How many bytes data has.
@discardableResult
public func CFDataGetLength(_ theData: CFData!) -> CFIndex { theData?.length ?? 0 }

/// How many objects an array has.
@discardableResult
public func CFArrayGetCount(_ theArray: CFArray!) -> CFIndex { theArray?.count ?? 0 }
