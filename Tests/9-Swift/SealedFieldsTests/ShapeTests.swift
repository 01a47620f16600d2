import Foundation
import GRDB
import KeychainTesting
import SealedFields
import TestSupport
import Testing

/// What goes in comes out, of whatever shape.
@Suite struct ShapeTests {
    private let sealing: FieldSealing
    private let place = FieldPlace(table: "t", column: "c", row: 1)

    init() throws {
        let world = try TestKeychain()
        sealing = FieldSealing(database: "d", keys: world.run { FieldKeys("shapes") })
    }

    private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
        try sealing.open(sealing.seal(value, at: place), at: place)
    }

    private func check<Value: Codable & Equatable>(
        _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try roundTrip(value) == value, sourceLocation: sourceLocation)
        #expect(try roundTrip(Value?.some(value)) == value, sourceLocation: sourceLocation)
        #expect(try roundTrip(Value??.some(.some(value))) == value, sourceLocation: sourceLocation)
        #expect(try roundTrip([value, value]) == [value, value], sourceLocation: sourceLocation)
    }

    enum Color: String, Codable {
        case red = ""
        case green
    }
    enum Shape: Codable, Hashable {
        case none
        case circle(radius: Double)
        indirect case group([Shape], named: String?)
    }
    struct Nested: Codable, Hashable {
        var optional: Int?
        var inner: [String: [Shape]]
        var empty = Empty()
        struct Empty: Codable, Hashable {}
    }
    struct Wrapper<Value: Codable & Equatable>: Codable, Equatable { var value: Value }

    @Test func singleValues() throws {
        for text in ["", "a", "Grüße 🔑", "\0", "$null", "Infinity", "NaN", String(repeating: "x", count: 100_000)] {
            try check(text)
            try check(Data(text.utf8))
            try check(Wrapper(value: text))
        }
        for number in [0, 1, -1, .max, .min] { try check(number) }
        for number in [Int8.min, 0, .max] { try check(number) }
        for number in [Int16.min, 0, .max] { try check(number) }
        for number in [Int32.min, 0, .max] { try check(number) }
        for number in [Int64.min, 0, .max] { try check(number) }
        for number: UInt64 in [0, .max, .max - 1] { try check(number) }
        for number in [0, UInt.max] { try check(number) }
        for number in [0, UInt32.max] { try check(number) }
        for number in [0, UInt16.max] { try check(number) }
        for number in [0, UInt8.max] { try check(number) }
        for number: Double in [0, .infinity, -.infinity, .pi, .leastNonzeroMagnitude, .greatestFiniteMagnitude] {
            try check(number)
            try check(Float(number))
            try check(Wrapper(value: number))
            try check(Date(timeIntervalSinceReferenceDate: number))
        }
        for flag in [true, false] { try check(flag) }
        for date in [Date.distantPast, .distantFuture, Date()] {
            try check(date)
            try check(Wrapper(value: date))
        }
        try check(UUID())
        try check(try #require(URL(string: "https://example.com/a?b=c#d")))
        try check(Decimal(string: "123456789.000000000000000000001") ?? 0)
        for color in [Color.red, .green] { try check(color) }
    }

    @Test func notANumber() throws {
        #expect(try roundTrip(Double.nan).isNaN)
        #expect(
            try roundTrip(Double(nan: 7, signaling: false)).bitPattern == Double(nan: 7, signaling: false).bitPattern)
        #expect(try roundTrip(Float.nan).isNaN)
        #expect(try roundTrip([Double.nan])[0].isNaN)
        #expect(try roundTrip(Optional(Double.nan))?.isNaN == true)
        #expect(try roundTrip(-0.0).sign == .minus)
        #expect(try roundTrip([-0.0])[0].sign == .minus)
    }

    @Test func optionals() throws {
        #expect(try roundTrip(String?.none) == nil)
        #expect(try roundTrip(Int??.none) == .none)
        #expect(try roundTrip(Int??.some(nil)) == .some(nil))
        #expect(try roundTrip(Int???.some(.some(nil))) == .some(.some(nil)))
        #expect(try roundTrip(Int???.some(nil)) == .some(nil))
        try check([nil, 1, nil] as [Int?])
        try check([nil, "$null"] as [String?])
        try check(Nested?.none)
    }

    @Test func collections() throws {
        try check([Int]())
        try check([String: Int]())
        try check(["": 1, "a": 2, "é": 3])
        try check([1: "a", -7: "b"])
        try check([UUID(): [Data([1, 2]), Data()]])
        try check(Set(["a", "b"]))
        try check([Color.red, .green])
        try check(Shape.group([.none, .circle(radius: .infinity), .group([], named: nil)], named: "x"))
        try check(Nested(optional: nil, inner: ["a": [.none]]))
        try check(Nested.Empty())
    }

    /// Random values in random shapes.
    @Test func randomShapes() throws {
        var random = SeededGenerator()
        func text() -> String {
            String(
                String.UnicodeScalarView(
                    (0..<random.int(below: 12)).compactMap { _ in
                        Unicode.Scalar(UInt32(random.int(below: [0x80, 0x800, 0x11_0000][random.int(below: 3)])))
                    }))
        }
        func number() -> Double { Double(bitPattern: random.next()) }
        // What is no number equals nothing, not even itself.
        func comparable() -> Double {
            let value = number()
            return value.isNaN ? 0 : value
        }
        func shape(_ depth: Int) -> Shape {
            switch random.int(below: depth > 3 ? 2 : 3) {
            case 0: .none
            case 1: .circle(radius: comparable())
            default: .group((0..<random.int(below: 4)).map { _ in shape(depth + 1) }, named: text())
            }
        }
        for _ in 0..<TestScale.count(300, soak: 30_000) {
            do {
                try check(text())
                try check(Int(truncatingIfNeeded: random.next()))
                try check(random.bytes(random.int(below: 300)))
                let value = number()
                #expect(try roundTrip(value).bitPattern == value.bitPattern)
                let shape = shape(0)
                try check(shape)
                try check(Nested(optional: random.int(below: 2) == 0 ? nil : 7, inner: [text(): [shape]]))
            } catch {
                Issue.record("\(error), seed \(random.seed)")
            }
        }
    }

    /// What was sealed as one type is no other.
    @Test func otherTypes() throws {
        let text = try sealing.seal("7", at: place)
        let number = try sealing.seal(300, at: place)
        func open<Value: Codable>(_ bytes: Data, as type: Value.Type) throws -> Value {
            try sealing.open(SealedColumnValue<Value>(bytes: bytes), at: place)
        }
        expectFailure(.undecodableValue) { try open(text.bytes, as: Int.self) }
        expectFailure(.undecodableValue) { try open(text.bytes, as: Data.self) }
        expectFailure(.undecodableValue) { try open(text.bytes, as: String?.self) }
        expectFailure(.undecodableValue) { try open(text.bytes, as: [String].self) }
        expectFailure(.undecodableValue) { try open(number.bytes, as: Int8.self) }
        expectFailure(.undecodableValue) { try open(number.bytes, as: UInt.self) }
        expectFailure(.undecodableValue) { try open(number.bytes, as: Bool.self) }
        #expect(try open(number.bytes, as: Int16.self) == 300)
    }

    struct Refusing: Codable {
        func encode(to encoder: any Encoder) throws { throw Note.NoSealing() }
    }

    @Test func unencodable() throws {
        expectFailure(.unencodableValue) { try sealing.seal(Refusing(), at: place) }
    }
}
