import Bytes
import Crypto
import Foundation
import TestSupport
import Testing

/// The PKCS #11 module in a program that uses it well and badly.
@Suite struct TokenModuleTests {
    private let place: TokenPlace

    init() throws { place = try TokenPlace() }

    private func run(
        _ words: String, python: String = "/usr/bin/python3", peer: String = "pkcs11_peer.py", seconds: Int = 280
    ) throws -> ProgramOutcome {
        let peer = URL(filePath: #filePath).deletingLastPathComponent().path + "/Peer/" + peer
        return try place.shell(
            #"""
            keychain key create web --enclave
            \#(python) -B '\#(peer)' "$MODULE" \#(words) && echo good
            """#, seconds: seconds)
    }

    /// Each function with nothing, with handles that are not there, with too little room, before C_Initialize and after
    /// C_Finalize returns what the standard says.
    @Test func misuse() throws {
        let outcome = try run("misuse")
        #expect(outcome.text == "good\n", "\(outcome.errors)")
    }

    @Test func anyCallIsAnswered() throws {
        let count = TestScale.count(20_000, soak: 1_000_000)
        let outcome = try run(
            "fuzz \(count) \(UInt32.random(in: 0...UInt32.max))", seconds: TestScale.isSoak ? 3_000 : 280)
        #expect(outcome.text == "calls \(count)\ngood\n", "\(outcome.errors)")
    }

    @Test func threadsShareAKey() throws {
        let (threads, seconds) = (TestScale.count(16, soak: 64), TestScale.count(3, soak: 600))
        let outcome = try run("threads \(threads) \(seconds)", seconds: seconds + 200)
        #expect(outcome.text.hasSuffix("good\n"), "\(outcome.errors)")
    }

    /// The helper lives as long as any of the program's children. When it was killed, a child starts another one.
    @Test func childrenShareTheHelper() throws {
        let outcome = try place.shell(
            #"""
            keychain key create web --enclave
            peer family 20 | sort | uniq -c | tr -s ' '
            ends() { [ -z "$(ls run)" ] && ! pgrep -f "pkcs11-helper.*$HOME/run" >/dev/null; }
            eventually ends && echo ended
            peer bereaved && echo good
            """#)
        place.expect(outcome, [" 1 children 20 helpers 1", " 20 orphan 1", "ended", "good"])
    }

    /// A child has a connection of its own, whether it calls C_Initialize or not.
    @Test func childrenUseTheKey() throws {
        let outcome = try run("forks \(TestScale.count(20, soak: 1_000))", seconds: TestScale.isSoak ? 3_000 : 280)
        #expect(outcome.text.hasSuffix("good\n"), "\(outcome.errors)")
    }

    @Test func sessionsLeaveNothing() throws {
        let outcome = try run(
            "sessions \(TestScale.count(500, soak: 10_000))", seconds: TestScale.isSoak ? 3_000 : 280)
        #expect(outcome.text.hasSuffix("good\n"), "\(outcome.errors)")
    }

    /// With C_Finalize the helper ends, and what was opened for it is closed.
    @Test func helpersDoNotGather() throws {
        let outcome = try run("restarts \(TestScale.count(6, soak: 200))")
        #expect(outcome.text.hasSuffix("good\n"), "\(outcome.errors)")
    }

    /// A path from the working folder does not lead to a program of another one.
    @Test func theHelperIsOfTheInstallation() throws {
        let outcome = try place.shell(
            #"""
            keychain key create web
            mkdir -p "hostile/bin" "hostile/other/bin" "hostile/lib/pkcs11"
            printf '#!/bin/sh\ntouch "%s/started"\n' "$HOME" > hostile/bin/keychain; chmod +x hostile/bin/keychain
            inside="${HOME#/}/hostile/lib/pkcs11"; mkdir -p "$inside" "hostile/other/pkcs11"
            cp "$MODULE" "$inside/module.so"; cp "$MODULE" hostile/other/pkcs11/module.so
            for library in "$inside/module.so" "$HOME/hostile/other/pkcs11/module.so"; do
                PATH=/usr/bin:/bin pkcs11-tool --module "$library" -O >>log 2>&1; echo $?
            done
            find . -name started
            """#)
        place.expect(outcome, ["1", "1"])
    }

    /// Keys of AES and HMAC, pairs of the session, keys that come in: in the vault and in the session, all against
    /// another implementation.
    @Test(arguments: ["secrets", "pairs", "imports", "lengths"]) func keysOfEveryKind(_ kind: String) throws {
        let outcome = try run(kind, python: "python3", peer: "pkcs11_keys.py")
        #expect(outcome.text == "good\n", "\(outcome.errors)")
    }

    /// What the token signs with ML-DSA, swift-crypto takes for signed; capsules of ML-KEM open.
    @Test func keysAgainstAQuantumComputer() throws {
        let outcome = try run("postquantum", python: "python3", peer: "pkcs11_keys.py")
        let lines = outcome.text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        try #require(lines.count == 5 && lines.last == ["good"], "\(outcome.errors)")
        for line in lines.dropLast() {
            let parts = try line.dropFirst().map {
                $0 == "-" ? Data() : Data(try #require([UInt8](hexadecimal: $0.utf8)))
            }
            let (key, context, signature) = (parts[0], parts[1], parts[2])
            let isValid =
                if line[0] == "2" {
                    try MLDSA65.PublicKey(rawRepresentation: key).isValidSignature(
                        signature, for: Data("data".utf8), context: context)
                } else {
                    try MLDSA87.PublicKey(rawRepresentation: key).isValidSignature(
                        signature, for: Data("data".utf8), context: context)
                }
            #expect(isValid)
        }
    }

    /// The helper gets its files under numbers of its own, whatever numbers they have in the program.
    @Test func programsWithManyOpenFiles() throws {
        let outcome = try place.shell(
            #"""
            keychain key create web
            cat > peer.py <<'END'
            import os, sys
            for _ in range(int(sys.argv[1])): os.dup(0)
            \#(try TokenPlace.block("import PyKCS11"))
            print(len(session.findObjects()))
            END
            for count in 0 1 $(seq 50 60); do /usr/bin/python3 peer.py $count; done | sort | uniq -c
            gone() { ! pgrep -f "folder $HOME/run/keychain-pkcs11" >/dev/null; }
            eventually gone && echo gone
            """#)
        place.expect(outcome, ["     13 2", "gone"])
    }
}
