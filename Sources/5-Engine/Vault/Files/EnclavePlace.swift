import Enclave
import FoundationEssentials
import SystemLibraries
import TPM

/// Where the enclaves of this machine are, and how a vault's own is found again.
package struct EnclavePlace: Sendable, Hashable {
    /// Nil for what the environment says when it is needed.
    private let tpm: String?

    /// The machine's TPM is where `KEYCHAIN_TPM` says.
    package static let environment = EnclavePlace(tpm: nil)

    package init(tpm: String?) { self.tpm = tpm }

    func make(_ kind: EnclaveKind) throws(EnclaveError) -> any Enclave {
        switch kind {
        case .software: try SoftwareEnclave()
        case .tpm2: try TPMEnclave.make(connection())
        }
    }

    /// The enclave whose device secret is stored as `encoded`. The version of the file says which kind it is.
    package func open(_ encoded: Data) throws(EnclaveError) -> any Enclave {
        // See Documentation/Specify/Formats/Vault.md, "device-secret".
        guard encoded.count >= 10, Array(encoded.prefix(10).suffix(2)) == [0, 2] else {
            return try SoftwareEnclave(decoding: encoded)
        }
        return try TPMEnclave(decoding: encoded, connection())
    }

    /// The file that leads to the TPM which the environment names; nil if none does.
    package static var device: String? { try? environment.address().device }

    /// The folder in which programs take turns at that TPM; nil if they need not.
    package static var folderForTurns: String? { try? environment.address().folderForTurns }

    private func connection() throws(EnclaveError) -> TPMConnection { .shared(try address().text) }

    private func address() throws(EnclaveError) -> TPMAddress {
        try TPMAddress { tpm ?? Environment.value(of: $0) }
    }
}
