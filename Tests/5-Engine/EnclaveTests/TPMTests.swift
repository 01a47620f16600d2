import Crypto
import Enclave
import Foundation
import Glibc
import SecureMemory
import TPM
import TestSupport
import Testing

/// What only a TPM does: it can be restarted, cleared, locked out and shared.
@Suite struct TPMTests {
    private let tpm: SoftwareTPM
    private let enclave: TPMEnclave
    private let authorization = SymmetricKey.random
    private let salt = Data(repeating: 1, count: 32)
    private let digest = Data(repeating: 2, count: 32)

    init() throws {
        tpm = try SoftwareTPM()
        enclave = try TPMEnclave.make(.shared(tpm.address))
    }

    private func reopened() throws -> TPMEnclave {
        try TPMEnclave(decoding: enclave.encoded(), .shared(tpm.address))
    }

    @Test func survivesARestartOfTheTPM() throws {
        let key = try enclave.createKey(for: .signing, authorization: authorization)
        let derived = try enclave.deriveKey(tangling: nil, salt: salt, context: "a").data
        for _ in 0..<3 {
            // The connection is open, and its other end dies.
            _ = try enclave.sign(digest: digest, with: key, authorization: authorization)
            try tpm.restart()
            _ = try enclave.sign(digest: digest, with: key, authorization: authorization)
            #expect(try reopened().deriveKey(tangling: nil, salt: salt, context: "a").data == derived)
        }
    }

    @Test func aConnectionThatBreaksDoesNotEndTheProgram() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            var ends: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            close(ends[1])
            let (status, reason) = withoutPipeSignal { (write(ends[0], "x", 1), errno) }
            #expect(status == -1)
            #expect(reason == EPIPE)
            // And nothing is left to come.
            var pending = sigset_t()
            sigpending(&pending)
            #expect(sigismember(&pending, SIGPIPE) == 0)
        }
        await #expect(processExitsWith: .signal(SIGPIPE)) {
            signal(SIGPIPE, SIG_DFL)
            var ends: [Int32] = [0, 0]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            close(ends[1])
            write(ends[0], "x", 1)
        }
    }

    @Test func nobodyWaitsForATPMThatDoesNotAnswer() throws {
        let socket = tpm.path(of: "deaf")
        let program = """
            import socket, time
            for name in ('\(socket)', '\(socket).ctrl'):
                deaf = socket.socket(socket.AF_UNIX)
                deaf.bind(name)
                deaf.listen(9)
                globals()[name] = deaf
            print('listening', flush=True)
            time.sleep(600)
            """
        let deaf = try Worker(["-c", program], command: "python3")
        #expect(deaf.readLine() == "listening")
        let connection = TPMConnection("swtpm:path=\(socket)", deadline: 1)
        let error = #expect(throws: EnclaveError.self) { try connection.lockoutState() }
        #expect(error?.description.contains("did not answer within 1 seconds") == true, "\(String(describing: error))")
    }

    @Test func saysThatTheTPMIsOff() throws {
        let key = try enclave.createKey(for: .signing, authorization: authorization)
        tpm.kill()
        let error = #expect(throws: EnclaveError.self) {
            try enclave.sign(digest: digest, with: key, authorization: authorization)
        }
        #expect(error?.description.contains("KEYCHAIN_TPM") == true)
        try tpm.start()
        _ = try enclave.sign(digest: digest, with: key, authorization: authorization)
    }

    @Test func saysThatTheTPMWasCleared() throws {
        let key = try enclave.createKey(for: .signing, authorization: authorization)
        enclave.close()
        try tpm.tool("tpm2_clear", "-c", "l")
        let again = try reopened()
        #expect(throws: EnclaveError.cleared) { try again.deriveKey(tangling: nil, salt: salt, context: "a") }
        #expect(throws: EnclaveError.cleared) {
            try again.sign(digest: digest, with: key, authorization: authorization)
        }
    }

    @Test func saysThatItIsAnotherTPM() throws {
        let other = try SoftwareTPM()
        let moved = try TPMEnclave(decoding: enclave.encoded(), .shared(other.address))
        #expect(throws: EnclaveError.otherEnclave) { try moved.deriveKey(tangling: nil, salt: salt, context: "a") }
        withExtendedLifetime(other) {}
    }

    @Test func worksWithTheStorageKeyThatTheTPMKeeps() throws {
        let key = try enclave.createKey(for: .signing, authorization: authorization)
        enclave.close()
        try tpm.tool(
            "tpm2_createprimary", "-Q", "-C", "o", "-g", "sha256", "-G", "ecc256:aes128cfb", "-a",
            "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|restricted|decrypt|noda", "-c", tpm.path(of: "p"))
        try tpm.tool("tpm2_evictcontrol", "-Q", "-C", "o", "-c", tpm.path(of: "p"), "0x81000001")
        try tpm.tool("tpm2_flushcontext", "-t")
        // Nobody but the owner can make one now; the one that is kept is the same.
        try tpm.tool("tpm2_changeauth", "-Q", "-c", "owner", "owner's password")
        _ = try enclave.sign(digest: digest, with: key, authorization: authorization)
        let second = try TPMEnclave.make(.shared(tpm.address))
        _ = try second.deriveKey(tangling: nil, salt: salt, context: "a")
        enclave.close()
        try tpm.tool("tpm2_evictcontrol", "-Q", "-C", "o", "-P", "owner's password", "-c", "0x81000001")
        let error = #expect(throws: EnclaveError.self) { try TPMEnclave.make(.shared(tpm.address)) }
        #expect(error?.description.contains("owner") == true)
    }

    /// Which need not be on the curve that everything else here is on.
    @Test func worksUnderAnRSAKeyThatTheTPMKeeps() throws {
        enclave.close()
        try tpm.tool(
            "tpm2_createprimary", "-Q", "-C", "o", "-g", "sha256", "-G", "rsa2048:aes128cfb", "-a",
            "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|restricted|decrypt|noda", "-c", tpm.path(of: "p"))
        try tpm.tool("tpm2_evictcontrol", "-Q", "-C", "o", "-c", tpm.path(of: "p"), "0x81000001")
        try tpm.tool("tpm2_flushcontext", "-t")
        try tpm.tool("tpm2_changeauth", "-Q", "-c", "owner", "owner's password")
        let second = try TPMEnclave.make(.shared(tpm.address))
        let key = try second.createKey(for: .signing, authorization: authorization)
        let publicKey = try P256.Signing.PublicKey(x963Representation: second.publicKey(of: key))
        second.forget()
        let raw = try second.sign(digest: digest, with: key, authorization: authorization)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: raw)
        #expect(publicKey.isValidSignature(signature, for: P256Digest(digest)))
        second.close()
        #expect(try tpm.loadedHandles().isEmpty)
    }

    @Test func leavesNothingBehind() throws {
        enclave.close()
        let before = try tpm.loadedHandles()
        #expect(before.isEmpty)
        let key = try enclave.createKey(for: [.signing, .keyAgreement], authorization: authorization)
        let sealed = try enclave.seal(.random(count: 32), authorization: authorization)
        let passcode = try LockedBytes.random(count: 32)
        let (binding, _) = try enclave.guardPasscode(stretched: passcode)
        let peer = P256.KeyAgreement.PrivateKey().publicKey.x963Representation
        for round in 0..<10 {
            _ = try enclave.sign(digest: digest, with: key, authorization: authorization)
            _ = try enclave.sharedSecret(with: peer, using: key, authorization: authorization)
            _ = try enclave.unseal(sealed, authorization: authorization)
            _ = try enclave.passcodeKey(stretched: passcode, binding: binding)
            _ = try reopened().deriveKey(tangling: nil, salt: Data([UInt8(round)]), context: "a")
            // Failures leave nothing either.
            #expect(throws: EnclaveError.wrongAuthorization) {
                try enclave.sign(digest: digest, with: key, authorization: .random)
            }
        }
        enclave.close()
        #expect(try tpm.loadedHandles() == before)
    }

    /// A socket leads to the TPM itself, where what a killed program loaded stays.
    @Test func makesRoomAmongWhatOthersLeft() throws {
        enclave.close()
        for number in 0..<3 {
            try tpm.tool("tpm2_createprimary", "-Q", "-C", "o", "-c", tpm.path(of: "left-\(number)"))
        }
        #expect(try tpm.loadedHandles().count == 3)
        let key = try enclave.createKey(for: .signing, authorization: authorization)
        _ = try enclave.sign(digest: digest, with: key, authorization: authorization)
        enclave.close()
        #expect(try tpm.loadedHandles().isEmpty)
    }

    @Test func servesManyThreads() async throws {
        let key = try enclave.createKey(for: [.signing, .keyAgreement], authorization: authorization)
        let publicKey = try P256.Signing.PublicKey(x963Representation: enclave.publicKey(of: key))
        let sealed = try enclave.seal(.of([1, 2, 3]), authorization: authorization)
        let (enclave, authorization) = (enclave, authorization)
        let right = await withTaskGroup(of: Int.self) { group in
            for client in 0..<8 {
                group.addTask {
                    var right = 0
                    for round in 0..<10 {
                        let hash = SHA256.hash(data: Data([UInt8(client), UInt8(round)]))
                        let raw = try? enclave.sign(digest: Data(hash), with: key, authorization: authorization)
                        let signature = raw.flatMap { try? P256.Signing.ECDSASignature(rawRepresentation: $0) }
                        if let signature, publicKey.isValidSignature(signature, for: hash) { right += 1 }
                        let secret = try? enclave.unseal(sealed, authorization: authorization)
                        if secret?.data == Data([1, 2, 3]) { right += 1 }
                    }
                    return right
                }
            }
            return await group.reduce(0, +)
        }
        #expect(right == 160)
        enclave.close()
        #expect(try tpm.loadedHandles().isEmpty)
    }
}
