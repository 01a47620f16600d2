import DaemonLink
import Foundation
import Glibc
import TestSupport
import Testing

/// Where a process looks for its vault.
@Suite struct VaultPlaceTests {
    private func place(_ environment: [String: String]) throws(PlaceError) -> VaultPlace {
        try VaultPlace { environment[$0] }
    }

    @Test func withoutAWordTheDaemonIsTriedWhereItWouldBe() throws {
        let place = try place(["XDG_RUNTIME_DIR": "/run/user/7"])
        #expect(place.mode == .auto)
        #expect(place.sockets == ["/run/user/7/keychain/socket", "/run/keychain/socket"])
        #expect(try self.place([:]).sockets == ["/run/keychain/socket"])
    }

    @Test func aFolderOfOnesOwnIsUsed() throws {
        #expect(try place(["KEYCHAIN_HOME": "/a"]).mode == .embedded)
        #expect(try place(["KEYCHAIN_HOME": "/a", "KEYCHAIN_SOCKET": "/s"]).mode == .daemon)
        #expect(try place(["KEYCHAIN_HOME": "/a", "KEYCHAIN_MODE": "auto"]).mode == .auto)
    }

    @Test func aSocketThatIsNamedIsTheOnlyOne() throws {
        let place = try place(["KEYCHAIN_SOCKET": "/s", "XDG_RUNTIME_DIR": "/run/user/7"])
        #expect(place == (try self.place(["KEYCHAIN_SOCKET": "/s", "KEYCHAIN_MODE": "daemon"])))
        #expect(place.sockets == ["/s"])
        #expect(place.mode == .daemon)
    }

    @Test func pathsThatDependOnTheFolderOfTheProgramAreRefused() throws {
        let error = #expect(throws: PlaceError.self) { try place(["KEYCHAIN_SOCKET": "run/socket"]) }
        #expect(error?.reason.contains("must be an absolute path") == true)
        #expect(try place(["XDG_RUNTIME_DIR": "run"]).sockets == [VaultPlace.systemSocket])
    }

    @Test func theFolderOfAnotherUserIsNotLookedInto() throws {
        try #require(geteuid() == 0, "the test changes its user, which takes root")
        let daemon = try DaemonUnderTest(as: 65534)
        // As `su` and `sudo -E` leave it.
        let runtime = daemon.folder.path(of: "xdg")
        try FileManager.default.createSymbolicLink(
            atPath: runtime, withDestinationPath: daemon.folder.path)
        try FileManager.default.createSymbolicLink(
            atPath: daemon.folder.path(of: "keychain"), withDestinationPath: daemon.folder.path(of: "run"))
        let place = try place(["XDG_RUNTIME_DIR": runtime])
        #expect(!place.presentSockets.contains { $0.hasPrefix(runtime) })
        chown(daemon.socket, 0, 0)
        #expect(place.presentSockets.contains { $0.hasPrefix(runtime) })
    }

    @Test func aDaemonOfAnotherUserGetsNothing() throws {
        try #require(geteuid() == 0, "the test changes its user, which takes root")
        let daemon = try DaemonUnderTest(as: 65534)
        let error = #expect(throws: (any Error).self) { try daemon.connect() }
        #expect("\(try #require(error))".contains("another user listens there"))
    }

    @Test func theModeCanBeChosen() throws {
        #expect(try place(["KEYCHAIN_MODE": "embedded", "KEYCHAIN_SOCKET": "/s"]).mode == .embedded)
        #expect(throws: PlaceError.self) { try place(["KEYCHAIN_MODE": "demon"]) }
    }
}
