import Foundation
import KeychainServices
import KeychainTesting
import Testing

@Suite struct WorldTests {
    @Test func clientsSeeTheGroupsTheyHold() throws {
        try withTestKeychain(client: TestClient(name: "one", accessGroups: ["one", "shared"])) { world in
            #expect(CodeUnderTest.add("mine", account: "a") == errSecSuccess)
            #expect(CodeUnderTest.add("ours", account: "b", group: "shared") == errSecSuccess)
            #expect(CodeUnderTest.add("theirs", account: "c", group: "two") == errSecMissingEntitlement)

            world.client = TestClient(name: "two", accessGroups: ["two", "shared"])
            #expect(CodeUnderTest.read(account: "a").status == errSecItemNotFound)
            #expect(CodeUnderTest.read(account: "b").password == "ours")
            #expect(CodeUnderTest.deleteAll() == errSecSuccess)

            world.client.accessGroups = []
            #expect(CodeUnderTest.read(account: "a").status == errSecMissingEntitlement)

            world.client = TestClient(name: "one", accessGroups: ["one", "shared"])
            #expect(CodeUnderTest.read(account: "a").password == "mine")
            #expect(CodeUnderTest.read(account: "b").status == errSecItemNotFound)
        }
    }

    @Test func theLockDecidesWhatCanBeRead() throws {
        try withTestKeychain { world in
            #expect(CodeUnderTest.add("1", account: "unlocked") == errSecSuccess)
            #expect(
                CodeUnderTest.add("2", account: "first", accessible: kSecAttrAccessibleAfterFirstUnlock)
                    == errSecSuccess)
            #expect(CodeUnderTest.add("3", account: "always", accessible: kSecAttrAccessibleAlways) == errSecSuccess)
            func readable() -> [String?] {
                ["unlocked", "first", "always"].map { CodeUnderTest.read(account: $0).password }
            }
            #expect(world.lockState == .unlocked)
            #expect(readable() == ["1", "2", "3"])
            world.lock()
            #expect(world.lockState == .locked)
            #expect(readable() == [nil, "2", "3"])
            #expect(CodeUnderTest.read(account: "unlocked").status == errSecInteractionNotAllowed)
            world.reboot()
            #expect(world.lockState == .beforeFirstUnlock)
            #expect(readable() == [nil, nil, "3"])
            world.lock()
            #expect(world.lockState == .beforeFirstUnlock)
            world.unlock()
            #expect(readable() == ["1", "2", "3"])
        }
    }

    @Test func theWorldCanChangeWhileCodeRuns() async throws {
        let world = try TestKeychain()
        await world.run {
            #expect(CodeUnderTest.add("1", account: "a") == errSecSuccess)
            await Task.detached { world.lock() }.value
            #expect(CodeUnderTest.read(account: "a").status == errSecInteractionNotAllowed)
        }
    }

    @Test func withoutPasscodeThereIsNoPasscodeClass() throws {
        let world = try TestKeychain(isPasscodeSet: false)
        try world.run {
            #expect(!world.isPasscodeSet)
            let akpu = kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            #expect(CodeUnderTest.add("1", account: "a", accessible: akpu) == errSecNotAvailable)
            try world.setPasscode(present: true)
            #expect(CodeUnderTest.add("1", account: "a", accessible: akpu) == errSecSuccess)
            #expect(CodeUnderTest.read(account: "a").password == "1")
            try world.setPasscode(present: false)
            #expect(CodeUnderTest.read(account: "a").status == errSecItemNotFound)
            try world.setPasscode(present: true)
            #expect(CodeUnderTest.read(account: "a").password == nil)
        }
    }

    @Test func theTestSetsTheTime() throws {
        try withTestKeychain { world in
            let start = Date(timeIntervalSince1970: 1_000_000_000)
            world.time = start
            #expect(CodeUnderTest.add("1", account: "a") == errSecSuccess)
            #expect(CodeUnderTest.dates(account: "a").created == start)
            world.advanceTime(by: .seconds(3600))
            #expect(CodeUnderTest.change(account: "a", to: "2") == errSecSuccess)
            let dates = CodeUnderTest.dates(account: "a")
            #expect(dates.created == start)
            #expect(dates.modified == start.addingTimeInterval(3600))
            #expect(world.time == start.addingTimeInterval(3600))
        }
    }

    @Test func untilThenTheTimeIsTheSystems() throws {
        let world = try TestKeychain()
        // The system's clock may be set meanwhile, by a little; a test that is stopped for long still reads both.
        let before = Date()
        let shown = world.time
        #expect(shown >= before.addingTimeInterval(-60) && shown <= Date().addingTimeInterval(60))
        world.advanceTime(by: .seconds(86400))
        #expect(world.time >= before.addingTimeInterval(86400 - 60))
    }
}
