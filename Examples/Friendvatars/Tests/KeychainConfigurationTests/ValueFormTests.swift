import Configuration
import Foundation
import Keychain
import KeychainConfiguration
import KeychainTesting
import Testing

/// What stored bytes are read as.
@Suite struct ValueFormTests {
    struct Form: Sendable, CustomTestStringConvertible {
        let stored: String
        let type: ConfigType
        /// Nil for what is not of the type.
        let content: ConfigContent?

        init(_ stored: String, _ type: ConfigType, _ content: ConfigContent?) {
            self.stored = stored
            self.type = type
            self.content = content
        }

        var testDescription: String { "\(type) of '\(stored)'" }
    }

    static let scalars: [Form] = [
        .init(" correct horse\n", .string, .string(" correct horse\n")), .init("", .string, .string("")),
        .init("5432", .int, .int(5432)), .init("-1", .int, .int(-1)), .init("5432\n", .int, nil), .init("", .int, nil),
        .init("9223372036854775808", .int, nil), .init("1.5", .int, nil),
        .init("1.5", .double, .double(1.5)), .init("2", .double, .double(2)), .init("1,5", .double, nil),
        .init("true", .bool, .bool(true)), .init("YES", .bool, .bool(true)), .init("1", .bool, .bool(true)),
        .init("False", .bool, .bool(false)), .init("no", .bool, .bool(false)), .init("0", .bool, .bool(false)),
        .init("on", .bool, nil), .init("", .bool, nil),
        .init("AAEC", .bytes, .bytes(Array("AAEC".utf8))), .init("", .bytes, .bytes([])),
    ]

    static let arrays: [Form] = [
        .init("a, b c ,", .stringArray, .stringArray(["a", "b c", ""])), .init("", .stringArray, .stringArray([""])),
        .init(#"["a,b","c"]"#, .stringArray, .stringArray(["a,b", "c"])),
        .init("[::1],[::2]", .stringArray, .stringArray(["[::1]", "[::2]"])),
        .init("[]", .stringArray, .stringArray([])),
        .init("1, 2", .intArray, .intArray([1, 2])), .init("[1,2]", .intArray, .intArray([1, 2])),
        .init("1,,2", .intArray, nil), .init("1,b", .intArray, nil),
        .init("1.5,2", .doubleArray, .doubleArray([1.5, 2])), .init("[1.5]", .doubleArray, .doubleArray([1.5])),
        .init("1.5;2", .doubleArray, nil),
        .init("yes, 0", .boolArray, .boolArray([true, false])), .init("[true]", .boolArray, .boolArray([true])),
        .init("yes,perhaps", .boolArray, nil),
        .init("AAEC, /w==", .byteChunkArray, .byteChunkArray([[0, 1, 2], [255]])),
        .init(#"["AAEC"]"#, .byteChunkArray, .byteChunkArray([[0, 1, 2]])), .init("AAEC,!", .byteChunkArray, nil),
    ]

    @Test(arguments: scalars + arrays) func reads(_ form: Form) async throws {
        try await withTestKeychain { _ in
            try await Shop.keychain.set(Data(form.stored.utf8), for: "a.key")
            let provider = Shop.provider
            let lookups: [() async throws -> LookupResult] = [
                { try provider.value(forKey: "a.key", type: form.type) },
                { try await provider.fetchValue(forKey: "a.key", type: form.type) },
                { try provider.snapshot().value(forKey: "a.key", type: form.type) },
            ]
            for lookUp in lookups {
                if let content = form.content {
                    let result = try await lookUp()
                    #expect(result.encodedKey == "a.key")
                    #expect(result.value == ConfigValue(content, isSecret: true))
                } else {
                    let error = await #expect(throws: KeychainError.self) { try await lookUp() }
                    #expect(error?.code == .undecodableValue)
                    #expect(error?.message.contains("'a.key'") == true)
                    #expect(error?.message.contains("\(form.type)") == true)
                }
            }
        }
    }

    /// What is no text is a value of bytes alone.
    @Test func readsBytesThatAreNoText() throws {
        try withTestKeychain { _ in
            let bytes: [UInt8] = [0, 0xFF, 0xC0, 10]
            try Shop.keychain.set(Data(bytes), for: "key")
            #expect(try Shop.provider.value(forKey: "key", type: .bytes).value?.content == .bytes(bytes))
            for type in [ConfigType.string, .int, .stringArray, .byteChunkArray] {
                #expect(throws: KeychainError(.undecodableValue, status: 0, message: "")) {
                    try Shop.provider.value(forKey: "key", type: type)
                }
            }
            let decoding = KeychainProvider(service: Shop.service, bytesDecoder: .base64)
            #expect(throws: KeychainError.self) { try decoding.value(forKey: "key", type: .bytes) }
        }
    }

    @Test func readsBytesAndArraysAsToldTo() throws {
        try withTestKeychain { _ in
            try Shop.keychain.set("00ff", for: "key")
            try Shop.keychain.set("00; ff", for: "keys")
            let provider = KeychainProvider(service: Shop.service, bytesDecoder: .hex, arraySeparator: ";")
            #expect(try provider.value(forKey: "key", type: .bytes).value?.content == .bytes([0, 255]))
            #expect(
                try provider.value(forKey: "keys", type: .byteChunkArray).value?.content
                    == .byteChunkArray([[0], [255]]))
            #expect(throws: KeychainError.self) { try provider.value(forKey: "keys", type: .bytes) }
            let separating = KeychainProvider(service: Shop.service, arraySeparator: ";")
            #expect(
                try separating.value(forKey: "keys", type: .stringArray).value?.content == .stringArray(["00", "ff"]))
        }
    }

    /// What `Keychain.set` stores is read as what it was.
    @Test func readsWhatKeychainStores() throws {
        try withTestKeychain { _ in
            let keychain = Shop.keychain
            try keychain.set(5432, for: "int")
            try keychain.set(1.5, for: "double")
            try keychain.set(true, for: "bool")
            try keychain.set(["a", "b, c"], for: "strings")
            try keychain.set([1, 2], for: "ints")
            try keychain.set([true, false], for: "bools")
            try keychain.set([Data([1]), Data([2, 3])], for: "chunks")
            let config = ConfigReader(provider: Shop.provider)
            #expect(try config.requiredInt(forKey: "int") == 5432)
            #expect(try config.requiredDouble(forKey: "double") == 1.5)
            #expect(try config.requiredBool(forKey: "bool"))
            #expect(try config.requiredStringArray(forKey: "strings") == ["a", "b, c"])
            #expect(try config.requiredIntArray(forKey: "ints") == [1, 2])
            #expect(try config.requiredBoolArray(forKey: "bools") == [true, false])
            #expect(try config.requiredByteChunkArray(forKey: "chunks") == [[1], [2, 3]])
        }
    }
}
