import Enclave
import KeychainTesting
import TPM
import TestSupport
import Testing

/// A keychain for a test, with its keys in software or in a TPM, and in this process or behind a server.
enum World: String, CaseIterable, CustomTestStringConvertible {
    case software, served, tpm

    var testDescription: String { rawValue }

    /// Runs `body` in a fresh world of this kind.
    func run(_ body: (TestKeychain) throws -> Void) throws {
        switch self {
        case .software, .served:
            let keychain = try TestKeychain(folder: nil, isServed: self == .served)
            try keychain.run { try body(keychain) }
        case .tpm:
            let tpm = try SoftwareTPM()
            let keychain = try TestKeychain(folder: nil, enclave: TPMEnclave.make(.shared(tpm.address)))
            try keychain.run { try body(keychain) }
            withExtendedLifetime(tpm) {}
        }
    }
}
