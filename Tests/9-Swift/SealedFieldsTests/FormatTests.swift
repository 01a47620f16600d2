import Crypto
import Foundation
import GRDB
import TestSupport
import Testing

@testable import SealedFields

/// The published vectors, and values that go back and forth between this package and `Peer/sealed_fields.py`, which was
/// written from the description of the format.
@Suite struct FormatTests {
    struct Case: Codable {
        var database, table, column: String
        var row: [Key]
        var id, key: String
        var algorithm: UInt8
        var kind: String
        var sealed: String
        var digest: String?

        struct Key: Codable {
            var int: Int64?
            var real: Double?
            var text: String?
            var blob: String?

            var value: DatabaseValue {
                int?.databaseValue ?? real?.databaseValue ?? text?.databaseValue
                    ?? Data(hexadecimal: blob ?? "").databaseValue
            }
        }

        func fieldKey(preparing: Bool) throws -> FieldKey {
            let number = try #require(UInt64(id, radix: 16))
            return FieldKey(
                FieldKeyID(number: number), secret: SymmetricKey(data: Data(hexadecimal: key)), preparing: preparing)
        }

        func binding(row: RowKey) -> BindingBytes {
            BindingBytes(database: database, table: table, column: column, row: row)
        }

        /// Opens the value and gives `body` the plaintext.
        func plaintext() throws -> Data {
            let row = try RowKey(row.map(\.value))
            let bytes = Data(hexadecimal: sealed)
            let (algorithm, id) = try bytes.withUnsafeBytes { try SealedForm.parse($0) }
            #expect(algorithm.number == self.algorithm)
            #expect(id.description == self.id)
            let bySwiftCrypto = try fieldKey(preparing: false).open(bytes, algorithm, binding(row: row)) { Data($0) }
            let plaintext = try fieldKey(preparing: true).open(bytes, algorithm, binding(row: row)) { Data($0) }
            #expect(plaintext == bySwiftCrypto)
            return plaintext
        }
    }

    private static let script = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Peer/sealed_fields.py").path

    @Test func publishedVectors() throws {
        let file = try #require(Bundle.module.url(forResource: "Fixtures/v1", withExtension: "json"))
        let published = try Data(contentsOf: file)
        let peer = try Worker(["-B", Self.script, "vectors"], command: "python3")
        #expect(Data(peer.readToEnd()) == published)

        let cases = try JSONDecoder().decode([Case].self, from: published)
        #expect(cases.count == 17)
        for vector in cases {
            let plaintext = try vector.plaintext()
            let digest = plaintext.withUnsafeBytes { bytes in
                FieldSealing.digest(
                    of: FieldSealing.withoutOptional(bytes), vector.binding(row: 0),
                    SymmetricKey(data: Data(hexadecimal: vector.key)))
            }
            #expect(digest.bytes == Data(hexadecimal: vector.digest ?? ""))
            func check<Value: Codable & Equatable>(_ value: Value) throws {
                #expect(try plaintext.withUnsafeBytes { try FieldCoding.decode(Value.self, from: $0) } == value)
                #expect(try FieldCoding.withEncoded(value) { Data($0) } == plaintext, "\(vector.kind)")
            }
            switch vector.kind {
            case "string" where plaintext.count == 1: try check("")
            case "string" where plaintext.count == 11: try check("Dear diary")
            case "string": try check("Grüße 🔑")
            case "data": try check(plaintext.count == 1 ? Data() : Data([0, 0xFF, 0x10]))
            case "signed": try check(plaintext[1] == 0x7F ? Int.max : -4711)
            case "unsigned": try check(UInt64.max)
            case "double": try check(-0.5)
            case "float": try check(Float(1.5))
            case "bool": try check(true)
            case "date": try check(Date(timeIntervalSinceReferenceDate: 700_000_000.25))
            case "uuid": try check(#require(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F")))
            case "none": try check(String?.none)
            case "some string": try check(String?.some("x"))
            case "some none": try check(String??.some(nil))
            case "json": try check(Sample(a: "x/y", b: [1, 2]))
            default: Issue.record("a vector of another kind: \(vector.kind)")
            }
        }
    }

    struct Sample: Codable, Equatable {
        var a: String
        var b: [Int]
    }

    /// What is sealed here opens there, and only in its place.
    @Test func openedByThePeer() throws {
        var random = SeededGenerator()
        let peer = try Worker(["-B", Self.script, "open"], command: "python3")
        for round in 0..<TestScale.count(200, soak: 5_000) {
            let secret = random.bytes(32)
            let text = random.bytes(random.int(below: 200))
            let row = [Case.Key(int: Int64(truncatingIfNeeded: random.next())), Case.Key(text: "ü\(round)")]
            let id = FieldKeyID(number: random.next())
            var sample = Case(
                database: "d", table: "Tabelle", column: "Größe", row: row, id: id.description,
                key: secret.hexadecimal, algorithm: UInt8(1 + round % 2), kind: "", sealed: "")
            let sealed = try FieldKey(id, secret: SymmetricKey(data: secret), preparing: round % 4 < 2).seal(
                text, SealingAlgorithm(number: sample.algorithm),
                sample.binding(row: RowKey(row.map(\.value))))
            sample.sealed = sealed.hexadecimal
            let isMoved = round % 5 == 4
            if isMoved { sample.column = "größe2" }
            peer.send(Array(try JSONEncoder().encode(sample)) + [0x0A])
            #expect(peer.readLine() == (isMoved ? "refused" : text.hexadecimal), "seed \(random.seed)")
        }
        peer.send(Array("end\n".utf8))
    }
}

extension FieldKey {
    fileprivate func seal(_ text: Data, _ algorithm: SealingAlgorithm, _ binding: BindingBytes) throws -> Data {
        try text.withUnsafeBytes { try seal($0, algorithm, binding) }
    }
}

extension Data {
    init(hexadecimal text: String) {
        let digits = Array(text.utf8)
        self.init(
            stride(from: 0, to: digits.count - 1, by: 2).compactMap {
                UInt8(String(decoding: digits[$0...($0 + 1)], as: UTF8.self), radix: 16)
            })
    }

    var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
