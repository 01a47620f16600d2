import Bytes
import FoundationEssentials
import SecureMemory

/// The bytes of a command for the TPM. Numbers are big-endian (Part 1, "Structures", and Part 3, "Command Header").
struct CommandBytes {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ number: UInt8) { bytes.append(number) }

    mutating func append(_ number: UInt16) {
        bytes.append(UInt8(truncatingIfNeeded: number >> 8))
        bytes.append(UInt8(truncatingIfNeeded: number))
    }

    mutating func append(_ number: UInt32) {
        append(UInt16(truncatingIfNeeded: number >> 16))
        append(UInt16(truncatingIfNeeded: number))
    }

    mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    /// Appends a structure of a size and that many bytes (TPM2B_…).
    mutating func append(sized more: some Collection<UInt8>) {
        append(UInt16(truncatingIfNeeded: more.count))
        bytes.append(contentsOf: more)
    }

    /// Makes a whole command: its tag, size and code, and then the bytes of `rest`.
    ///
    /// - Parameter hasSessions: Whether an authorization area follows the handles.
    init(_ command: TPMCommand, hasSessions: Bool, _ rest: (inout CommandBytes) -> Void) {
        append(hasSessions ? TPMConstant.sessionsTag : TPMConstant.noSessionsTag)
        append(UInt32(0))
        append(command.code)
        rest(&self)
        for (offset, shift) in [24, 16, 8, 0].enumerated() {
            bytes[2 + offset] = UInt8(truncatingIfNeeded: bytes.count >> shift)
        }
    }

    init() {}
}

/// Reads the answer of a TPM from its beginning. An answer that ends too early is malformed.
struct AnswerBytes {
    private(set) var bytes: [UInt8]
    private var next = 0
    private var end: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        end = bytes.count
    }

    var isAtEnd: Bool { next == end }

    mutating func take(_ count: Int) throws(TSSError) -> Range<Int> {
        guard count <= end - next else { throw .malformedAnswer }
        defer { next += count }
        return next..<next + count
    }

    mutating func number8() throws(TSSError) -> UInt8 { bytes[try take(1).lowerBound] }

    mutating func number16() throws(TSSError) -> UInt16 {
        let place = try take(2).lowerBound
        return UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
    }

    mutating func number32() throws(TSSError) -> UInt32 {
        UInt32(try number16()) << 16 | UInt32(try number16())
    }

    /// Continues at the beginning of `place`, and reads no further than its end.
    mutating func seek(_ place: Range<Int>) { (next, end) = (place.lowerBound, place.upperBound) }

    /// Returns the place of the bytes in a structure of a size and that many bytes (TPM2B_…).
    mutating func sized() throws(TSSError) -> Range<Int> { try take(Int(number16())) }

    /// Changes bytes in place.
    mutating func change(_ place: Range<Int>, _ body: (UnsafeMutableRawBufferPointer) -> Void) {
        bytes.withUnsafeMutableBytes { body(UnsafeMutableRawBufferPointer(rebasing: $0[place])) }
    }

    /// Returns a number as `count` bytes. The TPM leaves out leading zeros; this adds them.
    func number(at place: Range<Int>, count: Int) -> Data {
        let used = bytes[place].suffix(count)
        return Data(count: count - used.count) + used
    }

    func secret(at place: Range<Int>, count: Int? = nil) throws(TSSError) -> LockedBytes {
        let size = count ?? place.count
        do {
            return try LockedBytes(count: size) { secret in
                bytes.withUnsafeBytes { bytes in
                    // Adds the leading zeros that the TPM leaves out.
                    let used = bytes[place].suffix(size)
                    UnsafeMutableRawBufferPointer(rebasing: secret[(size - used.count)...])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: used))
                }
            }
        } catch {
            throw .memoryUnavailable
        }
    }

    mutating func wipe() { bytes.wipe() }
}

/// A command's code (Part 2, section 6.5.2, TPM_CC), with its name for errors.
struct TPMCommand {
    let code: UInt32
    let name: String

    static let policyNV = TPMCommand(code: 0x149, name: "PolicyNV")
    static let certify = TPMCommand(code: 0x148, name: "Certify")
    static let sign = TPMCommand(code: 0x15D, name: "Sign")
    static let multiply = TPMCommand(code: 0x154, name: "ECDH_ZGen")
    static let hmac = TPMCommand(code: 0x155, name: "HMAC")
    static let load = TPMCommand(code: 0x157, name: "Load")
    static let unseal = TPMCommand(code: 0x15E, name: "Unseal")
    static let flushContext = TPMCommand(code: 0x165, name: "FlushContext")
    static let readPublic = TPMCommand(code: 0x173, name: "ReadPublic")
    static let startSession = TPMCommand(code: 0x176, name: "StartAuthSession")
}
