import Foundation
import Glibc
import Keychain
import TestSupport
import Testing

@Suite struct InstallationTests {
    let tokens = Keychain(service: "tokens")
    let passwords = Keychain(server: InternetServer(host: "example.com"))

    private func marker(in folder: TemporaryFolder) -> URL {
        URL(filePath: folder.path(of: "data/app/installed"))
    }

    private func removeEarlier(_ marker: URL) throws -> Int {
        try Keychain.removeItemsOfEarlierInstallation(of: [tokens, passwords], marker: marker)
    }

    /// Every state that a launch can find, those included that a crash of the launch before leaves:
    /// nothing done, items removed but no marker, both done.
    @Test(arguments: [false, true], [false, true])
    func removesExactlyWithoutAMarker(markerIsThere: Bool, itemsAreThere: Bool) throws {
        let folder = try TemporaryFolder()
        let marker = marker(in: folder)
        try KeychainUnderTest.run { _ in
            if markerIsThere { #expect(try removeEarlier(marker) == 0) }
            let other = Keychain(service: "not of this program")
            try other.set("kept", for: "a")
            if itemsAreThere {
                try tokens.set("old", for: "a")
                try tokens.set("old", for: "b")
                try passwords.set("old", for: "a")
            }

            #expect(try removeEarlier(marker) == (itemsAreThere && !markerIsThere ? 3 : 0))
            #expect(try tokens.contains("a") == (itemsAreThere && markerIsThere))
            #expect(try passwords.contains("a") == (itemsAreThere && markerIsThere))
            #expect(try other.contains("a"))
            #expect(FileManager.default.fileExists(atPath: marker.path))

            // The next launch of the same installation.
            try tokens.set("new", for: "a")
            #expect(try removeEarlier(marker) == 0)
            #expect(try tokens.get(String.self, for: "a") == "new")

            // The installation is removed with its folder, and comes back.
            try FileManager.default.removeItem(at: marker.deletingLastPathComponent())
            #expect(try removeEarlier(marker) > 0)
            #expect(try tokens.items().isEmpty)
        }
    }

    @Test func worksAsynchronously() async throws {
        let folder = try TemporaryFolder()
        let marker = marker(in: folder)
        try await KeychainUnderTest.runAsync { _ in
            try await tokens.set("old", for: "a")
            #expect(try await Keychain.removeItemsOfEarlierInstallation(of: [tokens], marker: marker) == 1)
            try await tokens.set("new", for: "a")
            #expect(try await Keychain.removeItemsOfEarlierInstallation(of: [tokens], marker: marker) == 0)
        }
    }

    /// A first launch before the first unlock must not leave a marker beside items it could not remove.
    @Test func whenRemovingFailsThereIsNoMarker() throws {
        let folder = try TemporaryFolder()
        let marker = marker(in: folder)
        try KeychainUnderTest.run { _ in
            try tokens.set("old", for: "a")
            let foreign = Keychain(service: "s", accessGroup: "TEAM.other")
            #expect(
                code { try Keychain.removeItemsOfEarlierInstallation(of: [tokens, foreign], marker: marker) }
                    == .accessDenied)
            #expect(!FileManager.default.fileExists(atPath: marker.path))
            try tokens.set("old", for: "a")
            #expect(try removeEarlier(marker) == 1)
        }
    }

    @Test func removesNothingWhenTheMarkersPlaceIsUnusable() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: URL(filePath: folder.path(of: "file")))
        try KeychainUnderTest.run { _ in
            try tokens.set("kept", for: "a")
            for place in ["file/installed", String(repeating: "n", count: 300)] {
                let marker = URL(filePath: folder.path(of: place))
                #expect(code { _ = try removeEarlier(marker) } == .inputOutput)
            }
            let remote = try #require(URL(string: "https://example.com/installed"))
            #expect(code { _ = try removeEarlier(remote) } == .invalidRequest)
            #expect(try tokens.contains("a"))
        }
    }

    @Test func launchesAtTheSameMomentDoNotRemoveEachOthersItems() async throws {
        let folder = try TemporaryFolder()
        let marker = marker(in: folder)
        try await KeychainUnderTest.runAsync { _ in
            let tokens = tokens
            try await withThrowingTaskGroup(of: Void.self) { group in
                for launch in 0..<6 {
                    group.addTask {
                        try await Keychain.removeItemsOfEarlierInstallation(of: [tokens], marker: marker)
                        try await tokens.set("signed in", for: "\(launch)")
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await tokens.items().count == 6)
        }
    }
}
