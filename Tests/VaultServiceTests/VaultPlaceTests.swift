import Testing
import VaultInterface

/// Where a process looks for its vault.
@Suite struct VaultPlaceTests {
    private func place(_ environment: [String: String]) throws(VaultError) -> VaultPlace {
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

    @Test func theModeCanBeChosen() throws {
        #expect(try place(["KEYCHAIN_MODE": "embedded", "KEYCHAIN_SOCKET": "/s"]).mode == .embedded)
        #expect(throws: VaultError.self) { try place(["KEYCHAIN_MODE": "demon"]) }
    }
}
