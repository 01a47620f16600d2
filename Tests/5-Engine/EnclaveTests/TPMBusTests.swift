import Crypto
import Enclave
import Foundation
import SecureMemory
import TPM
import TestSupport
import Testing

/// What somebody between a program and its TPM sees and can do.
@Suite struct TPMBusTests {
    private let tpm: SoftwareTPM
    private let tap: Tap
    private let enclave: TPMEnclave
    private let authorization = SymmetricKey.random
    private let key: EnclaveBlob
    private let peer = P256.KeyAgreement.PrivateKey()

    init() throws {
        tpm = try SoftwareTPM()
        tap = try Tap(on: tpm)
        enclave = try TPMEnclave.make(.shared(tap.address))
        key = try enclave.createKey(for: [.signing, .keyAgreement], authorization: authorization)
    }

    private func agree() throws -> LockedBytes {
        try enclave.sharedSecret(
            with: peer.publicKey.x963Representation, using: key, authorization: authorization)
    }

    /// Seals a secret to a new counter.
    ///
    /// - Returns: What unseals it.
    private func sealToCounter(_ secret: LockedBytes) throws -> () throws(EnclaveError) -> LockedBytes {
        let counter = try enclave.freeCounter()
        try enclave.makeCounter(counter)
        let value = try enclave.value(ofCounter: counter)
        let sealed = try enclave.seal(secret, toCounter: counter, at: value)
        return { [enclave] () throws(EnclaveError) in try enclave.unseal(sealed, toCounter: counter, at: value) }
    }

    @Test func noSecretIsSeen() throws {
        // The last is longer than one block of a mask.
        let secrets = try [32, 100].map { try LockedBytes.random(count: $0) }
        let sealed = try secrets.map { try enclave.seal($0, authorization: authorization) }
        for (secret, blob) in zip(secrets, sealed) {
            #expect(try enclave.unseal(blob, authorization: authorization).isEqual(to: secret))
        }
        let shared = try agree()
        let publicKey = try P256.KeyAgreement.PublicKey(x963Representation: enclave.publicKey(of: key))
        let expected = try peer.sharedSecretFromKeyAgreement(with: publicKey).withUnsafeBytes { Data($0) }
        #expect(shared.data == expected)
        let fresh = try LockedBytes.random(count: 32)
        #expect(try sealToCounter(fresh)().isEqual(to: fresh))
        enclave.close()
        let seen = try tap.seen()
        #expect(seen.range(of: peer.publicKey.rawRepresentation.prefix(32)) != nil, "the tap sees what is no secret")
        for secret in [shared.data, authorization.data, fresh.data] + secrets.map(\.data) {
            #expect(seen.range(of: secret.prefix(16)) == nil)
            #expect(seen.range(of: secret.suffix(16)) == nil)
        }
    }

    /// The TPM's numbers of the commands whose answers are changed.
    @Test(arguments: [UInt32(0x15D), 0x154, 0x15E])
    func aChangedAnswerIsRefused(_ command: UInt32) throws {
        let sealed = try enclave.seal(.random(count: 32), authorization: authorization)
        let use = {
            switch command {
            case 0x15D:
                _ = try enclave.sign(digest: Data(count: 32), with: key, authorization: authorization)
            case 0x154: _ = try agree()
            default: _ = try enclave.unseal(sealed, authorization: authorization)
            }
        }
        try use()
        try tap.change(answersTo: command)
        let error = #expect(throws: EnclaveError.self) { try use() }
        #expect(error?.description.contains("changed on its way") == true, "\(String(describing: error))")
        try tap.change(answersTo: nil)
        try use()
        enclave.close()
        #expect(try tpm.loadedHandles().isEmpty)
    }

    @Test func aChangedSecretOfACounterIsRefused() throws {
        let fresh = try LockedBytes.random(count: 32)
        let unseal = try sealToCounter(fresh)
        #expect(try unseal().isEqual(to: fresh))
        try tap.change(answersTo: 0x15E)
        let error = #expect(throws: EnclaveError.self) { try unseal() }
        #expect(error?.description.contains("changed on its way") == true, "\(String(describing: error))")
        try tap.change(answersTo: nil)
        #expect(try unseal().isEqual(to: fresh))
        enclave.close()
        #expect(try tpm.loadedHandles().isEmpty)
    }

    /// A session could be agreed on with somebody else's key.
    @Test func anotherStorageKeyIsRefused() throws {
        enclave.forget()
        try tap.change(answersTo: 0x173)
        let error = #expect(throws: EnclaveError.self) { try agree() }
        #expect(error?.description.contains("changed on its way") == true, "\(String(describing: error))")
    }
}

/// A program that passes on what a TPM and its users say to each other, writes it down and changes some of it.
private final class Tap {
    private let process: Worker
    private let folder: String

    let address: String

    init(on tpm: SoftwareTPM) throws {
        folder = tpm.path(of: "tap")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        address = "swtpm:path=\(folder)/tpm"
        let real = String(tpm.address.dropFirst("swtpm:path=".count))
        process = try Worker(["-c", Self.program, folder, real], command: "python3")
        try #require(process.readLine() == "listening")
    }

    func change(answersTo command: UInt32?) throws {
        try Data((command.map(String.init) ?? "").utf8).write(
            to: URL(fileURLWithPath: folder + "/changed"), options: .atomic)
    }

    func seen() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: folder + "/seen")) }

    private static let program = """
        import os, select, socket, struct, sys, threading, time
        folder, real = sys.argv[1:]
        seen = open(folder + '/seen', 'wb', buffering=0)

        def exactly(end, count):
            data = b''
            while len(data) < count:
                more = end.recv(count - len(data))
                if not more: return None
                data += more
            return data

        def message(end):
            head = exactly(end, 10)
            return head and head + exactly(end, struct.unpack('>I', head[2:6])[0] - 10)

        def changed(command, answer):
            if not os.path.exists(folder + '/changed'): return answer
            number = str(struct.unpack('>I', command[6:10])[0])
            if open(folder + '/changed').read() != number or len(answer) <= 40: return answer
            return answer[:40] + bytes([answer[40] ^ 1]) + answer[41:]

        def connected(suffix):
            # The TPM serves one client at a time, and has room for few that wait.
            while True:
                tpm = socket.socket(socket.AF_UNIX)
                try:
                    tpm.connect(real + suffix)
                    return tpm
                except BlockingIOError:
                    time.sleep(0.001)

        def serve(client, suffix):
            if suffix:
                tpm = connected(suffix)
                # The control channel, which is of no interest, until either side ends it.
                try:
                    while True:
                        for end in select.select([client, tpm], [], [])[0]:
                            data = end.recv(4096)
                            if not data: raise ConnectionResetError
                            (tpm if end is client else client).sendall(data)
                except OSError:
                    tpm.close()
            else:
                while command := message(client):
                    tpm = connected(suffix)
                    tpm.sendall(command)
                    answer = message(tpm)
                    tpm.close()
                    seen.write(command + answer)
                    client.sendall(changed(command, answer))
            client.close()

        def listen(suffix):
            while True:
                client, _ = listeners[suffix].accept()
                threading.Thread(target=serve, args=(client, suffix), daemon=True).start()

        listeners = {}
        for suffix in ('', '.ctrl'):
            listeners[suffix] = socket.socket(socket.AF_UNIX)
            listeners[suffix].bind(folder + '/tpm' + suffix)
            listeners[suffix].listen(9)
        threading.Thread(target=listen, args=('.ctrl',), daemon=True).start()
        print('listening', flush=True)
        listen('')
        """
}
