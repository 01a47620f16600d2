import Bytes
import CTSS2
import Enclave
import FoundationEssentials
import SecureMemory

/// A TPM structure of a size and that many bytes (TPM2B_…).
protocol SizedBuffer {
    init()
}

extension TPM2B_DIGEST: SizedBuffer {}
extension TPM2B_ECC_PARAMETER: SizedBuffer {}
extension TPM2B_PRIVATE: SizedBuffer {}
extension TPM2B_SENSITIVE_DATA: SizedBuffer {}
extension TPM2B_NAME: SizedBuffer {}
extension TPM2B_MAX_NV_BUFFER: SizedBuffer {}

extension SizedBuffer {
    private static var sizeOfSize: Int { MemoryLayout<UInt16>.size }

    /// Makes a buffer with `bytes`, or with as many of them as fit.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init()
        set(bytes)
    }

    /// Replaces the contents with `bytes`, or with as many of them as fit.
    mutating func set(_ bytes: UnsafeRawBufferPointer) {
        withUnsafeMutableBytes(of: &self) { buffer in
            let count = min(bytes.count, buffer.count - Self.sizeOfSize)
            buffer.storeBytes(of: UInt16(truncatingIfNeeded: count), as: UInt16.self)
            UnsafeMutableRawBufferPointer(rebasing: buffer[Self.sizeOfSize...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    init(_ bytes: some ContiguousBytes) {
        self = bytes.withUnsafeBytes { Self($0) }
    }

    /// Runs `body` with the used bytes.
    func withUsedBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(of: self) { buffer in
            let count = min(Int(buffer.load(as: UInt16.self)), buffer.count - Self.sizeOfSize)
            return try body(UnsafeRawBufferPointer(rebasing: buffer[Self.sizeOfSize...].prefix(count)))
        }
    }

    var data: Data { withUsedBytes { Data($0) } }

    /// Returns the number as `count` bytes. The TPM leaves out leading zeros; this adds them.
    func number(count: Int) -> Data {
        let bytes = data
        return Data(count: max(0, count - bytes.count)) + bytes.suffix(count)
    }
}

/// Overwrites `value` with zeros. The compiler cannot remove this write.
func wipeValue<Value>(_ value: inout Value) {
    withUnsafeMutableBytes(of: &value) { SecureMemory.wipe($0) }
}
