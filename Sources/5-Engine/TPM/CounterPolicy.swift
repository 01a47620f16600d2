import Bytes
import CTSS2
import Crypto
import Enclave

/// The condition that a counter in the TPM has one value: TPM2_PolicyNV with the operation "equal".
///
/// The TPM checks it before it reveals an object that was made with the condition's digest. The digest covers the
/// counter's name, and the name covers what the index is. So no index of another kind in the same place satisfies it.
struct CounterPolicy: Sendable {
    let counter: TPM2_HANDLE
    let value: UInt64

    /// The digest of a policy with this condition only (Part 3, "TPM2_PolicyNV").
    var digest: [UInt8] {
        var comparison = CommandBytes()
        comparison.append(operand)
        comparison.append(Self.offset)
        comparison.append(TPMConstant.equal)
        var policy = CommandBytes()
        policy.append([UInt8](repeating: 0, count: SHA256.byteCount))
        policy.append(TPMCommand.policyNV.code)
        policy.append(SHA256.hash(data: comparison.bytes))
        policy.append(CounterAttributes.name(of: counter))
        return Array(SHA256.hash(data: policy.bytes))
    }

    /// Returns the command that checks the condition, and records in the session that it was met. The counter's
    /// authorization is an empty password.
    func command(in session: PolicySession) -> CommandBytes {
        CommandBytes(.policyNV, hasSessions: true) { command in
            command.append(counter)
            command.append(counter)
            command.append(session.handle)
            command.append(UInt32(9))
            command.append(TPMConstant.passwordSession)
            command.append([0, 0, 0, 0, 0])
            command.append(sized: operand)
            command.append(Self.offset)
            command.append(TPMConstant.equal)
        }
    }

    /// The value as the TPM returns it.
    private var operand: [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }

    private static let offset: UInt16 = 0
}

/// A session that records which conditions the TPM's state met. It has no key: it hides and proves nothing.
struct PolicySession {
    let handle: TPM2_HANDLE
}

extension TPMContext {
    /// Has the TPM check `policy`, and runs `body` with the session that says so.
    func satisfying<Result>(
        _ policy: CounterPolicy, _ body: (PolicySession) throws(TSSError) -> Result
    ) throws(TSSError) -> Result {
        let start = CommandBytes(.startSession, hasSessions: false) { command in
            command.append(TPMConstant.nullHierarchy)
            command.append(TPMConstant.nullHierarchy)
            command.append(sized: KeySession.freshNonce())
            command.append(sized: [])
            command.append(TPMConstant.policySession)
            command.append(Algorithm.null)
            command.append(Algorithm.sha256)
        }
        var started = try answer(to: start, .startSession)
        let session = PolicySession(handle: try started.number32())
        defer { flush(session.handle) }
        _ = try answer(to: policy.command(in: session), .policyNV)
        return try body(session)
    }
}

/// The attributes of a counter's index (Part 2, section 13.4, TPMA_NV).
enum CounterAttributes {
    private static let authWrite: TPMA_NV = 1 << 2
    private static let isCounter: TPMA_NV = 1 << 4
    private static let authRead: TPMA_NV = 1 << 18
    private static let noDA: TPMA_NV = 1 << 25

    /// Any user of the TPM may increment the counter. That is a nuisance, like clearing the TPM, but reveals nothing.
    static let all = authWrite | authRead | isCounter | noDA
    /// The TPM sets this bit when the counter has a value.
    static let written: TPMA_NV = 1 << 29

    /// Returns the name of a counter that has a value: the digest of its public area, TPMS_NV_PUBLIC, after the
    /// digest's algorithm (Part 1, "Names").
    static func name(of counter: TPM2_HANDLE) -> [UInt8] {
        var area = CommandBytes()
        area.append(counter)
        area.append(Algorithm.sha256)
        area.append(all | written)
        // No policy.
        area.append(sized: [])
        area.append(UInt16(truncatingIfNeeded: MemoryLayout<UInt64>.size))
        return ObjectBlob.name(ofPublicArea: area.bytes[...])
    }
}
