import Crypto
import Enclave
import Foundation
import Glibc
import SecureMemory
import TPM
import TestSupport
import Testing

/// What stays in memory of what keys in a TPM are used with.
@Suite struct TPMMemoryTests {
    /// In a process of its own, which has nothing else in memory.
    @Test func leavesNoAuthorization() async {
        await #expect(processExitsWith: .success) {
            let tpm = try SoftwareTPM()
            let enclave = try TPMEnclave.make(.shared(tpm.address))
            for use in Use.allCases {
                let secret = SplitSecret()
                #expect(try secret.isFoundWhileThere())
                try use.run(enclave, secret)
                enclave.forget()
                #expect(try !secret.isInMemory(), "\(use)")
            }
        }
    }

    @Test func worksOnAfterForgetting() throws {
        let tpm = try SoftwareTPM()
        let enclave = try TPMEnclave.make(.shared(tpm.address))
        for use in Use.allCases {
            try use.run(enclave, SplitSecret())
            enclave.forget()
        }
        enclave.close()
        #expect(try tpm.loadedHandles().isEmpty)
    }
}

/// Ways to give the TPM an authorization or a secret.
private enum Use: CaseIterable {
    case creating, sealing, signing, agreeing, unsealing, answering, failing, guarding, counting

    func run(_ enclave: TPMEnclave, _ secret: SplitSecret) throws {
        let authorization = try secret.joined()
        let key = try enclave.createKey(for: [.signing, .keyAgreement], authorization: authorization)
        switch self {
        case .creating: break
        case .sealing: _ = try enclave.seal(.random(count: 32), authorization: authorization)
        case .signing: _ = try enclave.sign(digest: Data(count: 32), with: key, authorization: authorization)
        case .agreeing:
            let peer = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
            _ = try enclave.sharedSecret(with: peer, using: key, authorization: authorization)
        case .unsealing:
            let sealed = try enclave.seal(
                authorization.withUnsafeBytes { try LockedBytes(copying: $0) }, authorization: .random)
            #expect(throws: EnclaveError.wrongAuthorization) {
                try enclave.unseal(sealed, authorization: authorization)
            }
        case .answering:
            // Here it is the TPM that says what is secret.
            let other = SymmetricKey.random
            let sealed = try enclave.seal(
                authorization.withUnsafeBytes { try LockedBytes(copying: $0) }, authorization: other)
            _ = try enclave.unseal(sealed, authorization: other)
        case .failing:
            let other = try enclave.createKey(for: .signing, authorization: .random)
            #expect(throws: EnclaveError.wrongAuthorization) {
                try enclave.sign(digest: Data(count: 32), with: other, authorization: authorization)
            }
        case .guarding:
            let stretched = try authorization.withUnsafeBytes { try LockedBytes(copying: $0) }
            let (binding, _) = try enclave.guardPasscode(stretched: stretched)
            _ = try enclave.passcodeKey(stretched: stretched, binding: binding)
        case .counting:
            let counter = try enclave.freeCounter()
            try enclave.makeCounter(counter)
            let value = try enclave.value(ofCounter: counter)
            let sealed = try enclave.seal(
                authorization.withUnsafeBytes { try LockedBytes(copying: $0) }, toCounter: counter, at: value)
            _ = try enclave.unseal(sealed, toCounter: counter, at: value)
        }
    }
}

/// Bytes that this process has in two halves only, so that finding them means that somebody put them together.
private struct SplitSecret {
    let mask = (0..<32).map { _ in UInt8.random(in: 0...255) }
    let hidden = (0..<32).map { _ in UInt8.random(in: 0...255) }

    func joined() throws -> SymmetricKey {
        let bytes = try LockedBytes(count: 32) { bytes in
            for index in 0..<32 { bytes[index] = mask[index] ^ hidden[index] }
        }
        return bytes.withUnsafeBytes { SymmetricKey(data: $0) }
    }

    /// Whether the search finds one that is there.
    func isFoundWhileThere() throws -> Bool {
        let kept = try joined()
        defer { withExtendedLifetime(kept) {} }
        return try isInMemory()
    }

    func isInMemory() throws -> Bool {
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        try #require(memory >= 0)
        defer { close(memory) }
        let regions = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
        for line in regions.split(separator: "\n") {
            let fields = line.split(separator: " ")
            let ends = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
            guard fields[1].hasPrefix("rw"), ends.count == 2 else { continue }
            let size = Int(ends[1] - ends[0])
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
            defer { copy.deallocate() }
            let count = pread(memory, copy.baseAddress, size, off_t(ends[0]))
            let found = count > 0 && contains(UnsafeRawBufferPointer(rebasing: copy[..<count]))
            // What was copied is not to be found in the next region.
            wipe(copy)
            if found { return true }
        }
        return false
    }

    private func contains(_ region: UnsafeRawBufferPointer) -> Bool {
        guard var place = region.baseAddress else { return false }
        let end = place + region.count
        while end - place >= 32, let next = memchr(place, Int32(mask[0] ^ hidden[0]), end - place - 31) {
            place = UnsafeRawPointer(next)
            if (1..<32).allSatisfy({ place.load(fromByteOffset: $0, as: UInt8.self) == mask[$0] ^ hidden[$0] }) {
                return true
            }
            place += 1
        }
        return false
    }
}
