import Bytes
import Foundation
import KeychainModel
import TestSupport
import Testing
import Vault
import VaultInterface

/// Items that more than a class key opens, in a vault that was written once and stays readable.
///
/// `Fixtures/guarded` was made with `VaultWorker fixture-guarded FOLDER`, `Fixtures/guarded.json` with
/// `Tests/Support/Vectors/format-vectors.py --keys`. `Fixtures/renewed` is the same after its class keys were renewed,
/// made with `VaultWorker fixture-renewed FOLDER`. None is ever made again.
@Suite struct GuardedFixtureTests {
    private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let fixtures = tests.appendingPathComponent("Fixtures")

    private static func fixture(_ name: String, in folder: TemporaryFolder) throws -> String {
        let path = folder.path(of: "vault")
        try FolderContents(of: fixtures.appendingPathComponent(name).path).restore(to: path)
        for factor in ["password", "enrolment"] {
            try? FileManager.default.removeItem(atPath: path + "/" + factor)
        }
        return path
    }

    private static func factor(_ name: String) throws -> Data {
        try Data(contentsOf: fixtures.appendingPathComponent("guarded/" + name))
    }

    @Test(arguments: ["guarded", "renewed"]) func theExampleOpens(_ name: String) throws {
        let folder = try TemporaryFolder()
        let person = PersonUnderTest()
        person.enrolment = try Self.factor("enrolment")
        let vault = try EmbeddedVault.open(
            at: Self.fixture(name, in: folder), surroundings: VaultSurroundings(authenticator: person))
        let options = AuthenticationOptions(
            applicationPassword: try Self.factor("password").withUnsafeBytes { try SecretBytes(copying: $0) })
        for item in try FixtureItems.guarded() {
            let query = ItemQuery(
                itemClass: item.itemClass, attributes: item.attributes, authentication: options)
            #expect(try vault.copy(query, includingValues: true, as: FixtureItems.client).map(\.value) == [item.value])
        }
        #expect(try vault.verify(as: .owner) == IntegrityReport(validItems: 1, lockedItems: 5, problems: []))
    }

    @Test(arguments: ["guarded", "renewed"]) func aSecondImplementationAgrees(_ name: String) throws {
        let folder = try TemporaryFolder()
        let kept = try Data(contentsOf: Self.fixtures.appendingPathComponent(name + ".json"))
        #expect(try Self.read(Self.fixture(name, in: folder), withFactors: true) == kept)
    }

    /// What is written today can be read by the rules as they are written down.
    @Test(arguments: ["fixture-guarded", "fixture-renewed"])
    func aSecondImplementationReadsWhatIsWrittenNow(_ job: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "fresh")
        let writer = try Worker([job, path])
        #expect(writer.wait() == 0)
        func values(withFactors: Bool) throws -> [String?] {
            let read = try JSONDecoder().decode(Printed.self, from: Self.read(path, withFactors: withFactors))
            return read.items.map(\.value)
        }
        let expected = try FixtureItems.guarded().map {
            $0.value.map { $0.map { String(format: "%02x", $0) }.joined() }
        }
        #expect(try values(withFactors: true) == expected)
        let open = ["either", "presence"].map { name in
            Data("guarded by \(name)".utf8).map { String(format: "%02x", $0) }.joined()
        }
        #expect(try values(withFactors: false) == [nil, nil, nil, open[0], open[1], nil])
    }

    private struct Printed: Decodable {
        struct Item: Decodable { var value: String? }
        var items: [Item]
    }

    private static func read(_ path: String, withFactors: Bool) throws -> Data {
        let factors = [
            "--application-password", fixtures.path + "/guarded/password", "--enrolment",
            fixtures.path + "/guarded/enrolment",
        ]
        return try FormatVectors.read(path, ["--keys"] + (withFactors ? factors : []))
    }
}
