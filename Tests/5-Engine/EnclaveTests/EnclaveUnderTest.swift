import Crypto
import Enclave
import Foundation
import SecureMemory
import TPM
import TestSupport
import Testing

/// Each kind of enclave, for tests that all of them have to pass.
struct EnclaveUnderTest: Sendable, CustomTestStringConvertible {
    let kind: EnclaveKind

    static let all = EnclaveKind.allCases.map(EnclaveUnderTest.init)

    var testDescription: String { kind.name }

    /// A fresh enclave; a TPM is one of its own.
    func make() throws -> EnclaveBench {
        switch kind {
        case .software: return EnclaveBench(enclave: try SoftwareEnclave(), tpm: nil)
        case .tpm2:
            let tpm = try SoftwareTPM()
            return EnclaveBench(enclave: try TPMEnclave.make(.shared(tpm.address)), tpm: tpm)
        }
    }
}

/// An enclave and the TPM it is in.
struct EnclaveBench {
    let enclave: any Enclave
    let tpm: SoftwareTPM?

    /// The enclave that was stored as `encoded`.
    func open(_ encoded: Data) throws -> any Enclave {
        guard let tpm else { return try SoftwareEnclave(decoding: encoded) }
        return try TPMEnclave(decoding: encoded, .shared(tpm.address))
    }

    /// Keeps the TPM until here: it goes when nobody holds it.
    func stay() {
        withExtendedLifetime(tpm) {}
    }
}

extension LockedBytes {
    static func of(_ bytes: some ContiguousBytes) throws -> LockedBytes {
        try bytes.withUnsafeBytes { try LockedBytes(copying: $0) }
    }

    var data: Data { withUnsafeBytes { Data($0) } }
}

extension SymmetricKey {
    var data: Data { withUnsafeBytes { Data($0) } }

    static var random: SymmetricKey { SymmetricKey(size: .bits256) }
}
