/// The error code of a function of the stack.
struct TSSError: Error {
    let code: UInt32
    /// The command with its name in Part 3 of the TPM's specification.
    let command: String

    enum Kind {
        case wrongAuthorization
        case lockedOut
        /// The connection is lost, or the TPM was restarted behind it. One more try on a new connection is useful.
        case connectionLost
        /// All slots for objects or sessions are taken.
        case full
        case notStarted
        /// A loaded blob does not belong to this TPM.
        case foreignBlob
        case noSuchHandle
        case invalidPoint
        /// The state of the TPM is not the one that a policy demands.
        case policyFailed
        case memoryUnavailable
        /// An answer was changed on its way or did not come from the TPM.
        case falseAnswer
        case other
    }

    /// No memory for the TPM's answer. The code is the stack's own (TSS2_ESYS_RC_MEMORY).
    static let memoryUnavailable = TSSError(code: 7 << 16 | 2, command: "Memory")

    /// A malformed answer, and one that does not come from the TPM. The codes are the stack's own
    /// (TSS2_ESYS_RC_MALFORMED_RESPONSE, TSS2_ESYS_RC_RSP_AUTH_FAILED).
    static let malformedAnswer = TSSError(code: 7 << 16 | 17, command: "Answer")
    static let unprovenAnswer = TSSError(code: 7 << 16 | 27, command: "Answer")

    /// Nothing listens at the address of the transport (TSS2_TCTI_RC_IO_ERROR).
    static let noTransport = TSSError(code: 10 << 16 | 10, command: "Connect")

    var kind: Kind {
        // Bits 16 to 23 name the source (TSS 2.0 Overview, section 4): 0 for the TPM, 11 for the TPM through a resource
        // manager.
        switch code >> 16 & 0xFF {
        case 0, 11: tpmKind(code & 0xFFFF)
        case 10: .connectionLost
        default:
            switch code & 0xFFFF {
            // TSS2_BASE_RC_MEMORY
            case 2: .memoryUnavailable
            // TSS2_BASE_RC_MALFORMED_RESPONSE, TSS2_BASE_RC_RSP_AUTH_FAILED
            case 17, 27: .falseAnswer
            default: .other
            }
        }
    }

    /// Part 2, section 6.6: bit 7 marks codes that name a parameter, handle or session.
    private func tpmKind(_ code: UInt32) -> Kind {
        if code & 0x80 != 0 {
            switch code & 0xBF {
            // TPM_RC_AUTH_FAIL, TPM_RC_BAD_AUTH
            case 0x8E, 0xA2: .wrongAuthorization
            // TPM_RC_INTEGRITY
            case 0x9F: .foreignBlob
            // TPM_RC_HANDLE
            case 0x8B: .noSuchHandle
            // TPM_RC_ECC_POINT
            case 0xA7: .invalidPoint
            // TPM_RC_POLICY_FAIL
            case 0x9D: .policyFailed
            default: .other
            }
        } else {
            switch code {
            case 0x921: .lockedOut
            // TPM_RC_OBJECT_MEMORY, TPM_RC_SESSION_MEMORY, TPM_RC_SESSION_HANDLES
            case 0x902, 0x903, 0x905: .full
            // TPM_RC_INITIALIZE
            case 0x100: .notStarted
            // TPM_RC_POLICY
            case 0x126: .policyFailed
            // TPM_RC_REFERENCE_H0… and TPM_RC_REFERENCE_S0…: a loaded object or session no longer exists.
            case 0x910...0x91E: .connectionLost
            default: .other
            }
        }
    }

    /// Returns whether the TPM did not begin a command and asks for it again: TPM_RC_YIELDED, TPM_RC_TESTING,
    /// TPM_RC_RETRY.
    static func isWorthAnotherTry(_ code: UInt32) -> Bool { [0x908, 0x90A, 0x922].contains(code & 0xFFFF) }

    /// Returns the stack's text for the code.
    func reason(_ tss: TSS) -> String {
        tss.decode(code).map { String(cString: $0) } ?? "0x" + String(code, radix: 16)
    }

    /// Returns what happened to the command, for a person.
    func words(_ tss: TSS) -> String { "the TPM refused \(command) (\(reason(tss)))" }
}
