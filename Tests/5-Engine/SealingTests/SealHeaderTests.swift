import Bytes
import Crypto
import Foundation
import KeychainModel
import TestSupport
import Testing

@testable import Sealing

@Suite struct SealHeaderTests {
    private static let headers: [SealHeader] = [
        SealHeader(password: .init(memoryKiB: 65536, passes: 3, salt: Data(0..<16)), enrolment: nil, hasValue: true),
        SealHeader(password: nil, enrolment: .init(check: Data(1...16), isMixedIn: true), hasValue: true),
        SealHeader(password: nil, enrolment: .init(check: Data(1...16), isMixedIn: false), hasValue: false),
        SealHeader(
            password: .init(memoryKiB: 8, passes: 1, salt: Data(0..<16)),
            enrolment: .init(check: Data(1...16), isMixedIn: true), hasValue: false),
    ]

    @Test(arguments: headers) func comesBackAsItWas(header: SealHeader) throws {
        #expect(try SealHeader(decoding: header.encoded) == header)
        let seal = Data(header.encoded) + Data(count: SealedValue.sealSize)
        #expect([86, 94, 110].contains(seal.count))
        #expect(try SealedValue.header(of: seal) == header)
        #expect(try SealedValue.header(of: seal.dropFirst(0)) == header)
    }

    @Test func aPlainSealHasNone() throws {
        #expect(try SealedValue.header(of: Data()) == nil)
        #expect(try SealedValue.header(of: Data(count: SealedValue.sealSize)) == nil)
    }

    /// Any bytes are a header that is written back as it was read, or refused.
    @Test func refusesEverythingElse() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            var bytes = Self.headers.randomElement(using: &random)?.encoded ?? []
            switch Int.random(in: 0..<3, using: &random) {
            case 0: bytes[Int.random(in: 0..<2, using: &random)] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
            default: bytes.append(UInt8.random(in: 0...255, using: &random))
            }
            guard let header = try? SealHeader(decoding: bytes) else { continue }
            #expect(header.encoded == bytes)
        }
    }

    /// Every part that is mixed in counts, and so does every part of the header.
    @Test func everyFactorCounts() {
        let header = Self.headers[3]
        let keys = (0..<2).map { SymmetricKey(data: Data(repeating: UInt8(truncatingIfNeeded: $0), count: 32)) }
        func key(_ header: SealHeader, _ classKey: Int, _ password: Int?, _ enrolment: String?) -> SymmetricKey? {
            ItemWrap.key(
                for: header, classKey: keys[classKey], passwordKey: password.map { keys[$0] },
                enrolment: enrolment.map { Data($0.utf8) })
        }
        var other = header
        other.password?.passes = 2
        let all = [
            key(header, 0, 0, "a"), key(header, 1, 0, "a"), key(header, 0, 1, "a"), key(header, 0, 0, "b"),
            key(other, 0, 0, "a"), key(Self.headers[0], 0, 0, "a"), key(Self.headers[1], 0, 0, "a"),
        ].map { $0.map { $0.withUnsafeBytes { Data($0) } } }
        #expect(Set(all).count == all.count)
        #expect(!all.contains(nil))
        #expect(key(header, 0, nil, "a") == nil)
        #expect(key(header, 0, 0, nil) == nil)
    }
}
