import CTSS2
import Enclave
import FoundationEssentials
import SecureMemory

/// A structure of the TPM that is a size and as many bytes (TPM2B_…).
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

    /// A buffer that holds `bytes`, as many of them as it can hold.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init()
        set(bytes)
    }

    /// Holds `bytes` from now on, as many of them as it can hold.
    mutating func set(_ bytes: UnsafeRawBufferPointer) {
        withUnsafeMutableBytes(of: &self) { buffer in
            let count = min(bytes.count, buffer.count - Self.sizeOfSize)
            buffer.storeBytes(of: UInt16(count), as: UInt16.self)
            UnsafeMutableRawBufferPointer(rebasing: buffer[Self.sizeOfSize...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    init(_ bytes: some ContiguousBytes) {
        self = bytes.withUnsafeBytes { Self($0) }
    }

    /// Calls `body` with the bytes that are used.
    func withUsedBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(of: self) { buffer in
            let count = min(Int(buffer.load(as: UInt16.self)), buffer.count - Self.sizeOfSize)
            return try body(UnsafeRawBufferPointer(rebasing: buffer[Self.sizeOfSize...].prefix(count)))
        }
    }

    var data: Data { withUsedBytes { Data($0) } }

    /// The bytes as a number of `count` bytes, with zeros in front; the TPM leaves leading zeros out.
    func number(count: Int) -> Data {
        let bytes = data
        return Data(count: max(0, count - bytes.count)) + bytes.suffix(count)
    }
}

/// Overwrites `value` with zeros in a way the compiler may not leave out.
func wipeValue<Value>(_ value: inout Value) {
    withUnsafeMutableBytes(of: &value) { SecureMemory.wipe($0) }
}
