import Bytes
import Foundation
import TestSupport
import Testing

@testable import RunCommands

/// What `keychain run --mask` lets through, against the same done at leisure.
@Suite struct OutputMaskTests {
    /// Every byte of an occurrence goes, and each run of such bytes is one mask.
    private static func atLeisure(_ text: [UInt8], _ secrets: [[UInt8]]) -> [UInt8] {
        var isCovered = [Bool](repeating: false, count: text.count)
        for secret in secrets where !secret.isEmpty && secret.count <= text.count {
            for start in 0...(text.count - secret.count) where text[start..<start + secret.count].elementsEqual(secret)
            {
                for index in start..<start + secret.count { isCovered[index] = true }
            }
        }
        var result: [UInt8] = []
        for index in text.indices {
            if !isCovered[index] {
                result.append(text[index])
            } else if index == 0 || !isCovered[index - 1] {
                result += OutputMask.mask
            }
        }
        return result
    }

    private static func mask(_ secrets: [[UInt8]]) throws -> OutputMask {
        OutputMask(try secrets.map { secret in try secret.withUnsafeBytes { try SecretBytes(copying: $0) } })
    }

    private func masked(_ pieces: [String], _ secrets: [String]) throws -> [String] {
        var mask = try Self.mask(secrets.map { Array($0.utf8) })
        let taken = pieces.map { piece in Array(piece.utf8).withUnsafeBytes { mask.take($0) } }
        return (taken + [mask.finish()]).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Few letters, so that secrets overlap, contain, and begin like each other and themselves.
    @Test func piecesMakeNoDifference() throws {
        var random = SeededGenerator()
        var masks = 0
        for round in 0..<3_000 {
            let letters = 2 + random.int(below: 3)
            func text(_ count: Int) -> [UInt8] {
                (0..<count).map { _ in UInt8(truncatingIfNeeded: 97 + random.int(below: letters)) }
            }
            let secrets = (0..<1 + random.int(below: 4)).map { _ in text(1 + random.int(below: 7)) }
            var stream = text(random.int(below: 60))
            if round.isMultiple(of: 2), let secret = secrets.first { stream += secret + text(random.int(below: 5)) }
            var mask = try Self.mask(secrets)
            let right = Self.atLeisure(stream, secrets)
            var (result, place) = ([UInt8](), 0)
            while place < stream.count {
                let end = min(stream.count, place + random.int(below: 9))
                result += stream[place..<end].withUnsafeBytes { mask.take($0) }
                place = end
                // Whatever is let go is a beginning of what is right.
                try #require(right.starts(with: result), "seed \(random.seed), round \(round)")
            }
            result += mask.finish()
            try #require(result == right, "seed \(random.seed), round \(round)")
            if result != stream { masks += 1 }
        }
        #expect(masks > 1_000)
    }

    /// No more is held back than what may be the beginning of a secret.
    @Test func nothingElseIsHeldBack() throws {
        var random = SeededGenerator()
        for round in 0..<1_000 {
            func text(_ count: Int) -> [UInt8] {
                (0..<count).map { _ in UInt8(truncatingIfNeeded: 97 + random.int(below: 3)) }
            }
            let secrets = (0..<1 + random.int(below: 3)).map { _ in text(2 + random.int(below: 6)) }
            let stream = text(random.int(below: 40))
            var mask = try Self.mask(secrets)
            var result: [UInt8] = []
            for (index, byte) in stream.enumerated() {
                result += [byte].withUnsafeBytes { mask.take($0) }
                let seen = stream[...index]
                let held =
                    (0...seen.count).reversed().first { count in
                        secrets.contains { $0.count > count && $0.starts(with: seen.suffix(count)) }
                    } ?? 0
                // Nothing of what is held counts, though an occurrence may reach into it.
                let whole = Self.atLeisure(Array(seen), secrets)
                let right = Self.released(Array(seen), held, secrets)
                try #require(result == right && whole.starts(with: right), "seed \(random.seed), round \(round)")
            }
        }
    }

    /// What is let go of `seen` when its last `held` bytes are held back.
    private static func released(_ seen: [UInt8], _ held: Int, _ secrets: [[UInt8]]) -> [UInt8] {
        let end = seen.count - held
        var isCovered = [Bool](repeating: false, count: seen.count)
        for secret in secrets where secret.count <= seen.count {
            for start in 0...(seen.count - secret.count) where seen[start..<start + secret.count].elementsEqual(secret)
            {
                for index in start..<start + secret.count { isCovered[index] = true }
            }
        }
        var result: [UInt8] = []
        for index in 0..<end {
            if !isCovered[index] {
                result.append(seen[index])
            } else if index == 0 || !isCovered[index - 1] {
                result += OutputMask.mask
            }
        }
        return result
    }

    @Test func whatCanBeNoBeginningGoesAtOnce() throws {
        #expect(try masked(["Name: ", "hun", "ter", "2!"], ["hunter2"]) == ["Name: ", "", "", "********!", ""])
        #expect(try masked(["hunt", "ing"], ["hunter2"]) == ["", "hunting", ""])
        #expect(try masked(["a hun"], ["hunter2"]) == ["a ", "hun"])
        #expect(try masked(["hunter2"], ["hunter2"]) == ["********", ""])
        #expect(try masked(["hunter2", "hunter2", "x"], ["hunter2"]) == ["********", "", "x", ""])
    }

    @Test func theLongerOneLeavesNothing() throws {
        #expect(try masked(["secret", "sauce."], ["secret", "secretsauce"]) == ["", "********.", ""])
        #expect(try masked(["secrets."], ["secret", "secretsauce"]) == ["********s.", ""])
        #expect(try masked(["abcdefgh"], ["abcde", "defg"]) == ["********h", ""])
    }

    @Test func linesOfAValueAreMasked() throws {
        let value = try SecretBytes("-----BEGIN-----\r\nMIGHAgEAMB\n}\n        \nMIGHAgEAMB\n\n")
        let reference = try SecretReference("keychain://a/b")
        let parts = try MaskedSecrets.make(of: [(reference, value), (reference, SecretBytes("hunter2\n"))])
            .map { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
        #expect(
            parts == [
                "-----BEGIN-----\r\nMIGHAgEAMB\n}\n        \nMIGHAgEAMB", "-----BEGIN-----", "MIGHAgEAMB", "hunter2",
            ])
        for short in ["", "abc", "abc\n\n\r\n", "\n\n\n\n\n"] {
            // Said on standard error, and no reason to stop what is run.
            #expect(try MaskedSecrets.make(of: [(reference, SecretBytes(short))]).isEmpty)
        }
    }

    /// What a program prints without end takes no memory without end.
    @Test func aSecretThatRepeatsItselfIsFoundInOneGo() throws {
        let secret = [UInt8](repeating: 0x61, count: 20_000)
        var mask = try Self.mask([secret + [0x62]])
        var count = 0
        let rounds = TestScale.count(40, soak: 200)
        for _ in 0..<rounds { count += secret.withUnsafeBytes { mask.take($0) }.count }
        #expect(count == (rounds - 1) * 20_000)
        #expect([UInt8(0x62)].withUnsafeBytes { mask.take($0) } == OutputMask.mask)
    }
}
