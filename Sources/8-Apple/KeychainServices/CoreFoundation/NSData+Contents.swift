import Foundation

extension NSData {
    /// The bytes, copied at once. The cast `as Data`, which means the same, takes them one by one on Linux: several
    /// microseconds for a signature.
    var contents: Data { length == 0 ? Data() : Data(bytes: bytes, count: length) }
}
