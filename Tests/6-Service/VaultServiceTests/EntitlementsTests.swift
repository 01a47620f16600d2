import Access
import Foundation
import TestSupport
import Testing
import VaultInterface

@testable import VaultService

@Suite struct EntitlementsTests {
    private let mail = PeerIdentity(
        process: 7, user: 1000, executable: .init(path: "/usr/bin/mail", device: 1, inode: 2))

    private func grant(
        _ json: String, to peer: PeerIdentity, tool: PeerIdentity.Executable? = nil
    ) throws -> CallerGrant {
        try Entitlements(json: Data(json.utf8)).grant(to: peer, owner: 1000, tool: tool)
    }

    @Test func aProgramWithoutARuleHoldsItsOwnGroup() throws {
        let grant = try grant(#"{"version": 1}"#, to: mail)
        #expect(grant.groups == ["/usr/bin/mail"])
        #expect(grant.listable == ["/usr/bin/mail"])
        #expect(grant.rights.isEmpty)
    }

    @Test func theFirmestNameCounts() {
        var peer = mail
        #expect(peer.ownGroup(owner: 1000) == "/usr/bin/mail")
        #expect(peer.ownGroup(owner: 1) == "uid:1000:/usr/bin/mail")
        peer.unit = .user("app.service")
        #expect(peer.ownGroup(owner: 1000) == "/usr/bin/mail")
        peer.unit = .system("mail.service")
        #expect(peer.ownGroup(owner: 1000) == "unit:mail.service")
        peer.flatpak = "org.example.Mail"
        #expect(peer.ownGroup(owner: 1000) == "flatpak:org.example.Mail")
        #expect(PeerIdentity(process: 7, user: 1000).ownGroup(owner: 1000) == nil)
    }

    /// What an operator is told: the lowest limit of a rule for a group, also for the own group of a program that a
    /// rule names.
    @Test(
        arguments: [
            ("A", #"{"uid": 1, "groups": ["A"], "quota": 7}, {"uid": 2, "groups": ["A"], "quota": 5}"#, 5),
            ("A", #"{"uid": 1, "groups": ["*"], "quota": 7}, {"uid": 2, "groups": ["A"]}"#, 7),
            ("B", #"{"uid": 1, "groups": ["A"], "quota": 7}"#, nil),
            ("/usr/bin/mail", #"{"executable": "/usr/bin/mail", "quota": 7}"#, 7),
            ("uid:1:/usr/bin/mail", #"{"executable": "/usr/bin/mail", "quota": 7}"#, 7),
            ("uid:1:/usr/bin/mail", #"{"executable": "/usr/bin/mail", "uid": 2, "quota": 7}"#, nil),
            ("uid:2:unit:mail.service", #"{"unit": "mail.service", "uid": 2, "quota": 7}"#, 7),
            ("unit:mail.service", #"{"unit": "other.service", "quota": 7}"#, nil),
            ("flatpak:org.example.Mail", #"{"flatpak": "org.example.Mail", "quota": 7}"#, 7),
            ("snap:mail", #"{"snap": "mail", "quota": 7}"#, 7),
            ("uid:x", #"{"executable": "/x", "quota": 7}"#, nil),
        ] as [(String, String, Int?)])
    func theLowestQuotaOfAGroupIsFound(_ group: String, _ rules: String, _ bytes: Int?) throws {
        let entitlements = try Entitlements(json: Data("{\"version\": 1, \"rules\": [\(rules)]}".utf8))
        #expect(entitlements.quota(of: group) == bytes)
    }

    @Test func everyConditionOfARuleMustHold() throws {
        let rule = #"{"version": 1, "rules": [{"executable": "/usr/bin/mail", "uid": 1001, "groups": ["TEAM.mail"]}]}"#
        #expect(try grant(rule, to: mail).groups == ["/usr/bin/mail"])
        var other = mail
        other.user = 1001
        #expect(try grant(rule, to: other).groups == ["TEAM.mail", "uid:1001:/usr/bin/mail"])
        other.executable?.path = "/tmp/mail"
        #expect(throws: AccessDenied.self) { try grant(rule, to: other) }
    }

    @Test(arguments: [
        (#"{"unit": "mail.service", "groups": ["G"]}"#, true),
        (#"{"userUnit": "mail.service", "groups": ["G"]}"#, false),
        (#"{"flatpak": "org.example.Mail", "groups": ["G"]}"#, true),
        (#"{"snap": "mail", "groups": ["G"]}"#, true),
        (#"{"label": "system_u:mail", "groups": ["G"]}"#, true),
        (#"{"label": "system_u:web", "groups": ["G"]}"#, false),
    ])
    func rulesMatchFirmNames(_ rule: String, _ matches: Bool) throws {
        let peer = PeerIdentity(
            process: 7, user: 1000, unit: .system("mail.service"), flatpak: "org.example.Mail", snap: "mail",
            label: "system_u:mail")
        #expect(try grant(#"{"version": 1, "rules": [\#(rule)]}"#, to: peer).groups.contains("G") == matches)
    }

    /// The group, the rules, and what it may hold.
    @Test(
        arguments: [
            ("A", #"{"uid": 1000, "groups": ["A"]}"#, nil),
            ("A", #"{"uid": 1000, "groups": ["A"], "quota": 7}"#, 7),
            ("A", #"{"uid": 1000, "groups": ["A"], "quota": 7}, {"uid": 1001, "groups": ["A"]}"#, 7),
            ("A", #"{"uid": 1000, "groups": ["A"], "quota": 7}, {"uid": 1000, "groups": ["A", "B"], "quota": 9}"#, 9),
            ("B", #"{"uid": 1000, "groups": ["A"], "quota": 7}, {"uid": 1000, "groups": ["A", "B"], "quota": 9}"#, 9),
            ("A", #"{"uid": 1000, "groups": ["A"], "quota": 7}, {"uid": 1000, "groups": ["A"]}"#, nil),
            ("B", #"{"uid": 1000, "groups": ["A"], "quota": 7}, {"uid": 1000, "groups": ["B"]}"#, nil),
            ("A", #"{"uid": 1000, "groups": ["A"], "quota": 7}, {"uid": 1000, "groups": ["B"]}"#, 7),
            ("A", #"{"uid": 1000, "groups": ["*"], "quota": 7}"#, 7),
            ("A", #"{"uid": 1000, "groups": ["*"], "quota": 7}, {"uid": 1000, "groups": ["A"], "quota": 9}"#, 9),
            ("A", #"{"uid": 1000, "groups": ["*"]}, {"uid": 1000, "groups": ["A"], "quota": 9}"#, nil),
            ("/usr/bin/mail", #"{"executable": "/usr/bin/mail", "groups": ["A"], "quota": 7}"#, 7),
            ("/usr/bin/mail", #"{"executable": "/usr/bin/mail", "uid": 1000, "quota": 7}"#, 7),
            ("/usr/bin/mail", #"{"uid": 1000, "groups": ["/usr/bin/mail"], "quota": 7}"#, 7),
            // The program could copy itself, and have as many groups as there are copies.
            ("/usr/bin/mail", #"{"uid": 1000, "groups": ["A"], "quota": 7}"#, 0),
            ("/usr/bin/mail", #"{"uid": 1000, "quota": 7}"#, 0),
            ("/usr/bin/mail", #"{"uid": 1000, "quota": 7}, {"uid": 1000, "groups": ["B"]}"#, nil),
        ] as [(String, String, Int?)])
    func quotasOfRulesAddUp(_ group: String, _ rules: String, _ bytes: Int?) throws {
        let grant = try grant(#"{"version": 1, "rules": [\#(rules)]}"#, to: mail)
        #expect(grant.quotas?.bytes(of: group) == bytes)
        #expect(grant.client(claiming: grant.groups).quotas == grant.quotas)
        let tool = try #require(mail.executable)
        let owner = try self.grant(#"{"version": 1, "rules": [\#(rules)]}"#, to: mail, tool: tool)
        #expect(owner.quotas == nil)
    }

    /// The name that a caller's own group gets, the rule's condition, and what the group may hold.
    @Test(
        arguments: [
            (nil, "flatpak:made.up", #""executable": "/usr/bin/mail", "uid": 1000"#, 0),
            (nil, "flatpak:made.up", #""flatpak": "made.up", "uid": 1000"#, 7),
            (nil, "snap:made-up", #""executable": "/usr/bin/mail""#, 0),
            (nil, "snap:made-up", #""snap": "made-up""#, 7),
            (nil, "/usr/bin/mail", #""userUnit": "mail.service""#, 0),
            ("web.service", "flatpak:made.up", #""unit": "web.service""#, 0),
            // Only root makes units of the system.
            ("web.service", "unit:web.service", #""unit": "web.service""#, 7),
            ("web.service", "unit:web.service", #""uid": 1000"#, 7),
        ] as [(String?, String, String, Int)])
    func aGroupWhoseNameTheProgramCanChooseMayHoldNothing(
        _ unit: String?, _ group: String, _ condition: String, _ bytes: Int
    ) throws {
        var peer = mail
        peer.unit = unit.map(SystemdUnit.system) ?? .user("mail.service")
        if group.hasPrefix("flatpak:") { peer.flatpak = "made.up" }
        if group.hasPrefix("snap:") { peer.snap = "made-up" }
        let grant = try grant(#"{"version": 1, "rules": [{\#(condition), "quota": 7}]}"#, to: peer)
        // What it holds already can be read and deleted.
        #expect(grant.groups.contains(group) && grant.listable.contains(group))
        #expect(grant.quotas?.bytes(of: group) == bytes)
        let named = "{\(condition), \"quota\": 7, \"groups\": [\"\(group)\"]}"
        #expect(try self.grant("{\"version\": 1, \"rules\": [\(named)]}", to: peer).quotas?.bytes(of: group) == 7)
    }

    /// A program chooses what is at the path where the description of a sandbox is. A terminal that is opened becomes
    /// the daemon's own, which then dies with it.
    @Test func ofAProcessOnlyRegularFilesAreOpened() throws {
        let folder = try TemporaryFolder()
        try FolderContents.write(Data("[Application]".utf8), to: folder.path(of: "info"))
        #expect(try Peer.contents(of: folder.path(of: "info")) == Array("[Application]".utf8))
        try #require(mkfifo(folder.path(of: "pipe"), 0o600) == 0)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path(of: "link"), withDestinationPath: folder.path(of: "info"))
        for path in [
            folder.path(of: "pipe"), folder.path(of: "link"), folder.path(of: "none"), folder.path, "/dev/zero",
        ] {
            #expect(try Peer.contents(of: path).isEmpty, "\(path)")
        }
        // What cannot be read for want of something is not taken for missing.
        #expect(throws: PeerError.self) { try Peer.contents(of: "/" + String(repeating: "x", count: 5_000)) }
    }

    @Test func theOwnersToolHoldsEverythingUnlessTheFileSaysOtherwise() throws {
        let tool = try #require(mail.executable)
        let trusted = try grant(#"{"version": 1}"#, to: mail, tool: tool)
        #expect(trusted.groups == ["keychain", "*"])
        #expect(trusted.rights == .all)
        let distrusted = try grant(#"{"version": 1, "trustOwnerTool": false}"#, to: mail, tool: tool)
        #expect(distrusted.groups == ["/usr/bin/mail"])
        var replaced = tool
        replaced.inode = 3
        #expect(try grant(#"{"version": 1}"#, to: mail, tool: replaced).groups == ["/usr/bin/mail"])
    }

    @Test func aClaimNarrowsAndOrdersWhatIsHeld() {
        var grant = CallerGrant(identifier: "a")
        grant.add("one", isListable: true)
        grant.add("two", isListable: false)
        #expect(grant.client(claiming: []).accessGroups.isEmpty)
        #expect(grant.client(claiming: ["*"]).accessGroups == ["one", "two"])
        #expect(grant.client(claiming: ["two", "three", "one"]).accessGroups == ["two", "one"])
        #expect(grant.client(claiming: ["two", "*"]).accessGroups == ["two", "one"])
        #expect(grant.client(claiming: ["one", "two"]).listableGroups == ["one"])
        // Held or not: that is for the vault's gate to say.
        #expect(grant.client(claiming: ["*", "three", "one"]).preferredGroup == "three")
        #expect(grant.client(claiming: ["*"]).preferredGroup == nil)
        grant.add("*", isListable: true)
        #expect(grant.client(claiming: ["three"]).accessGroups == ["three"])
    }

    @Test(arguments: [
        ("[]", "the file must be an object"),
        ("{", "the name of a member is missing"),
        (#"{"version": 1}}"#, "something follows the end"),
        (#"{"version": 1.5}"#, "'1.5' is no value"),
        (#"{"version": 1, "version": 1}"#, "'version' is there twice"),
        (#"{"version" 1}"#, "a colon is missing"),
        (#"{"version": 1, "rules": [{"uid": 1 "groups": []}]}"#, "a comma or a closing brace is missing"),
        (#"{"version": 1, "rules": [1, ]}"#, "a value is missing"),
        ("{\"version\": 1, \"rules\": [{\"unit\": \"a\n\"}]}", "the text has no end on its line"),
        (#"{"version": 1, "rules": [{"unit": "\q"}]}"#, "an escape that JSON does not have"),
        (String(repeating: "[", count: 100_000), "too deep"),
        (#"{"version": 2}"#, "'version' must be 1"),
        (#"{"version": true}"#, "'version' must be a whole number"),
        (#"{"version": 1, "rule": []}"#, "unknown member 'rule'"),
        (#"{"version": 1, "rules": [{"groups": ["G"]}]}"#, "does not say whom it is for"),
        (#"{"version": 1, "rules": [{"exe": "/bin/a"}]}"#, "rules[0]: unknown member 'exe'"),
        (#"{"version": 1, "rules": [{"executable": "mail"}]}"#, "absolute path"),
        (#"{"version": 1, "rules": [{"uid": -1}]}"#, "no user number"),
        (#"{"version": 1, "rules": [{"uid": "me"}]}"#, "'uid' must be a whole number"),
        (
            #"{"version": 1, "rules": [{"uid": 1, "rights": ["read"]}]}"#,
            "'read' is none of list, unlock, administer, synchronize"
        ),
        (#"{"version": 1, "rules": [{"uid": 1, "groups": [""]}]}"#, "not empty"),
        (#"{"version": 1, "rules": [{"uid": 1, "quota": 0}]}"#, "rules[0].quota must be a number of bytes, at least 1"),
        (#"{"version": 1, "rules": [{"uid": 1, "quota": -5}]}"#, "at least 1"),
        (#"{"version": 1, "rules": [{"uid": 1, "quota": "1M"}]}"#, "'quota' must be a whole number"),
    ])
    func mistakesAreNamed(_ json: String, _ words: String) {
        do {
            _ = try Entitlements(json: Data(json.utf8))
            Issue.record("taken: \(json)")
        } catch {
            #expect(error.description.contains(words), "\(error)")
        }
    }

    /// The mark is where the mistake is told, and not in the file.
    @Test(arguments: [
        #"""
        {
          "version": 1
          §"rules": []
        }
        """#,
        #"""
        {
          "version": 1,
          "rules": [
            {"uid": 0, "groups": ["a"], "rights": ["list", §"read"]}
          ]
        }
        """#,
        #"{"version": 1, "rules": [{"uid": 1}, §{"groups": ["a"]}]}"#,
        "{\"version\": 1,\r\n\t\"rules\": [{\"uid\": §\"me\"}]}",
        #"{"version": 1, "rules": [{"unit": "größer", "exe": §"a"}]}"#,
        #"§{"rules": []}"#,
    ])
    func mistakesHaveALineAndAColumn(_ marked: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "entitlements.json")
        let parts = marked.components(separatedBy: "§")
        try Data(parts.joined().utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        let lines = Array(parts[0].utf8).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let place = "\(path):\(lines.count):\((lines.last?.count ?? 0) + 1): "
        let error = #expect(throws: EntitlementsError.self) { try Entitlements(file: path) }
        #expect(error?.description.hasPrefix(place) == true, "\(error.debugDescription), not \(place)")
    }

    /// Whatever the bytes are, reading ends with rules or with a mistake.
    @Test func anyBytesAreReadOrRefused() {
        var random = SeededGenerator()
        let sample = Array(
            #"{"version": 1, "rules": [{"uid": 7, "groups": ["é", "\u00e9"], "rights": ["list"]}]}"#.utf8)
        #expect((try? Entitlements(json: Data(sample)))?.rules.first?.groups == ["é", "é"])
        for _ in 0..<TestScale.count(2_000, soak: 200_000) {
            var bytes = sample
            for _ in 0..<random.int(below: 5) {
                let place = random.int(below: bytes.count)
                switch random.int(below: 3) {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: place)
                default: bytes.insert(Array(#"{}[]",:\ 0"#.utf8)[random.int(below: 10)], at: place)
                }
            }
            _ = try? Entitlements(json: Data(bytes))
        }
    }

    @Test func callersLearnOfChangesInTheirGroups() throws {
        let stranger = PeerIdentity(process: 8, user: 2000)
        func audience(_ json: String, _ peer: PeerIdentity) throws -> ChangeAudience {
            try grant(json, to: peer).audience(isOwner: peer.user == 1000)
        }
        let one = #"{"version": 1, "rules": [{"uid": 2000, "groups": ["x"]}]}"#
        #expect(
            try audience(one, stranger)
                == ChangeAudience(groups: .only(["x", "uid:2000"]), learnsOfUnknown: false))
        let lister = #"{"version": 1, "rules": [{"uid": 2000, "groups": ["x"], "rights": ["list"]}]}"#
        #expect(
            try audience(lister, stranger) == ChangeAudience(groups: .only(["x", "uid:2000"]), learnsOfUnknown: true))
        let every = #"{"version": 1, "rules": [{"uid": 2000, "groups": ["*"]}]}"#
        #expect(try audience(every, stranger) == .everyone)
        // A carrier hands on what changes in every group, and reads none of it.
        let carrier = #"{"version": 1, "rules": [{"uid": 2000, "rights": ["synchronize"]}]}"#
        #expect(try audience(carrier, stranger) == .everyone)
        // The owner's programs can look at the times of the files.
        #expect(
            try audience(#"{"version": 1}"#, mail)
                == ChangeAudience(groups: .only(["/usr/bin/mail"]), learnsOfUnknown: true))
    }

    @Test func aFileThatOthersMayWriteIsRefused() throws {
        let folder = try TemporaryFolder()
        let path = folder.path(of: "entitlements.json")
        try Data(#"{"version": 1}"#.utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o664)
        #expect(throws: EntitlementsError.self) { try Entitlements(file: path) }
        chmod(path, 0o644)
        #expect(try Entitlements(file: path) == Entitlements())
        #expect(try Entitlements(file: folder.path(of: "none")) == Entitlements())
    }

    @Test(
        arguments: [
            ("0::/system.slice/nginx.service", SystemdUnit.system("nginx.service")),
            ("0::/system.slice/system-getty.slice/getty@tty1.service", .system("getty@tty1.service")),
            ("5:cpu:/x\n1:name=systemd:/system.slice/a.service\n0::/other", .system("a.service")),
            ("0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-mail.scope", .user("app-mail.scope")),
            ("0::/user.slice/user-1000.slice/session-3.scope", nil),
            ("0::/", nil), ("0::/../system.slice/a.service", nil), ("", nil), ("0::/system.slice", nil),
        ] as [(String, SystemdUnit?)])
    func unitsAreReadFromControlGroups(_ text: String, _ unit: SystemdUnit?) {
        #expect(SystemdUnit.path(inCgroups: text).flatMap(SystemdUnit.init(cgroup:)) == unit)
    }

    @Test func sandboxesAreReadFromTheirDescriptions() {
        #expect(Peer.flatpak(in: "[Instance]\nname=x\n[Application]\nname=org.example.Mail\n") == "org.example.Mail")
        #expect(Peer.flatpak(in: "[Instance]\nname=x\n") == nil)
        #expect(Peer.snap(inCgroup: "/user.slice/snap.mail.app-1-2.scope") == "mail")
        #expect(Peer.snap(inCgroup: "/system.slice/mail.service") == nil)
    }

    /// A program makes the description of its sandbox, and users make control groups: their names reach logs, prompts
    /// and terminals.
    @Test(
        arguments: [
            "a b", "a\u{1B}[2J", "a\r\nnotice keychaind: unlocked", "a\r", "a\u{301}", "ä", "a\u{9B}2J", "a\u{202E}b",
            String(repeating: "a", count: 256),
        ])
    func aNameIsNoMoreThanAName(_ name: String) {
        #expect(Peer.flatpak(in: "[Application]\nname=\(name)\n") == nil)
        #expect(Peer.snap(inCgroup: "/user.slice/snap.\(name)") == nil)
        #expect(SystemdUnit(cgroup: "/user.slice/user@1000.service/app.slice/\(name).scope") == nil)
    }

    @Test func namesWithCommandsToATerminalAreNone() {
        #expect(Peer.flatpak(in: "[Application]\r\nname=org.example.Mail\r\n") == nil)
        #expect(Peer.flatpak(in: "[Application]\nname=\n") == nil)
        for name in ["/a\u{1B}", "/a\n", "/a\u{9B}2J", "/\u{2028}x", "/\u{202E}x"] {
            #expect(Peer.printable(Array(name.utf8)) == nil)
        }
        #expect(Peer.printable([0x2F, 0xFF]) == nil)
        #expect(Peer.printable(Array("/usr/bin/mäil".utf8)) == "/usr/bin/mäil")
        // A slash and a mark that combines with it are two characters to the kernel.
        #expect(SystemdUnit(cgroup: "/system.slice/\u{301}a.service") == nil)
    }

    /// Before Linux 6.5 the kernel tells the number of the process that connected, and no more.
    @Test func anotherProcessWithTheSameNumberIsUnknown() throws {
        let victim = ProcessRecord(owner: 0, start: 500)
        let attacker = ProcessRecord(owner: 1000, start: 400)
        #expect(ProcessRecord.isOf(1000, attacker, attacker))
        // The number was given away before the daemon looked, while it looked, and after the process had ended.
        #expect(!ProcessRecord.isOf(1000, victim, victim))
        #expect(!ProcessRecord.isOf(1000, attacker, victim))
        #expect(!ProcessRecord.isOf(1000, attacker, ProcessRecord(owner: 1000, start: 500)))
        #expect(!ProcessRecord.isOf(1000, nil, attacker))
        #expect(!ProcessRecord.isOf(1000, attacker, nil))
        #expect(!ProcessRecord.isOf(1000, nil, nil))

        let rest = (3...40).map { $0 == 22 ? "777" : "\($0)" }.joined(separator: " ")
        for name in ["cat", "a) R 1 (b", "\n"] {
            #expect(ProcessRecord.start(inStat: Array("17 (\(name)) \(rest)\n".utf8)) == 777)
        }
        #expect(ProcessRecord.start(inStat: Array("17 (".utf8) + [0xFF] + Array(") \(rest)".utf8)) == 777)
        #expect(ProcessRecord.start(inStat: Array("17 (cat) S 1".utf8)) == nil)
        let own = try #require(try ProcessRecord(of: getpid()))
        #expect(own.owner == geteuid() && own.start > 0)
        #expect(try own == ProcessRecord(of: getpid()))
    }

    /// Editors of other systems end lines in two bytes, and begin a file with a mark of the byte order.
    @Test func linesAndTheStartCanBeThoseOfAnotherSystem() throws {
        let text =
            "\u{FEFF}{\r\n\"version\": 1,\r\n\"rules\": [{\"unit\": \"a.service\", \"groups\": [\"g\"]}]\r\n}\r\n"
        #expect(try Entitlements(json: Data(text.utf8)).rules.first?.groups == ["g"])
        #expect(throws: EntitlementsError.self) {
            try Entitlements(json: Data("\u{FEFF}\u{FEFF}{\"version\": 1}".utf8))
        }
    }
}
