import Access
import Foundation
import KeychainModel
import Synchronization
import Testing

@Suite struct AccessPolicyTests {
    struct Rule: Sendable {
        var groups: [String]
        var requested: String?
        var scope: Result<GroupScope, AccessDenied>
    }

    /// The rules for reading; writing differs only for the token group.
    static let rules: [Rule] = [
        Rule(groups: [], requested: nil, scope: .failure(.noAccessGroups(client: "c"))),
        Rule(groups: [], requested: "a", scope: .failure(.noAccessGroups(client: "c"))),
        Rule(groups: ["a"], requested: nil, scope: .success(.only(["a"]))),
        Rule(groups: ["a", "b"], requested: nil, scope: .success(.only(["a", "b"]))),
        Rule(groups: ["a", "b"], requested: "b", scope: .success(.only(["b"]))),
        Rule(groups: ["a"], requested: "b", scope: .failure(.groupNotHeld(group: "b", client: "c"))),
        Rule(groups: ["a"], requested: "", scope: .failure(.groupNotHeld(group: "", client: "c"))),
        Rule(groups: ["a"], requested: "A", scope: .failure(.groupNotHeld(group: "A", client: "c"))),
        Rule(groups: ["a"], requested: "*", scope: .failure(.groupNotHeld(group: "*", client: "c"))),
        // Two spellings that Swift's equality takes for one.
        Rule(
            groups: ["caf\u{e9}"], requested: "cafe\u{301}",
            scope: .failure(.groupNotHeld(group: "cafe\u{301}", client: "c"))),
        Rule(groups: ["*"], requested: nil, scope: .success(.every)),
        Rule(groups: ["a", "*"], requested: nil, scope: .success(.every)),
        Rule(groups: ["*"], requested: "anything", scope: .success(.only(["anything"]))),
        Rule(groups: ["com.apple.token"], requested: "com.apple.token", scope: .success(.only(["com.apple.token"]))),
    ]

    private func scope(_ kind: AccessRequest.Kind, _ rule: Rule) -> Result<GroupScope, AccessDenied> {
        Result { () throws(AccessDenied) in
            try AccessPolicy.scope(
                of: AccessRequest(kind, accessGroup: rule.requested),
                for: Client(identifier: "c", accessGroups: rule.groups))
        }
    }

    @Test(arguments: rules) func readersSeeTheirGroups(_ rule: Rule) {
        #expect(scope(.copy, rule) == rule.scope)
        #expect(scope(.status, rule) == rule.scope)
    }

    @Test(arguments: rules, AccessRequest.Kind.allCases.filter { $0.isWrite && $0 != .synchronize })
    func writersToo(_ rule: Rule, _ kind: AccessRequest.Kind) {
        if rule.requested == Client.tokenGroup {
            #expect(scope(kind, rule) == .failure(.tokenGroupIsReadOnly))
        } else {
            #expect(scope(kind, rule) == rule.scope)
        }
    }

    @Test func writersWhoNameNoGroupLeaveTheTokenAlone() throws {
        #expect(
            scope(.delete, Rule(groups: ["com.apple.token", "a"], requested: nil, scope: .success(.every)))
                == .success(.only(["a"])))
        #expect(
            scope(.add, Rule(groups: ["com.apple.token"], requested: nil, scope: .success(.every)))
                == .failure(.tokenGroupIsReadOnly))
        let client = Client(identifier: "c", accessGroups: ["com.apple.token", "a"])
        #expect(try AccessPolicy.groupForNewItem(nil, client: client) == "a")
    }

    @Test func whatOnlyLooksIsNoWrite() {
        #expect(
            AccessRequest.Kind.allCases.filter { !$0.isWrite } == [
                .copy, .status, .unlock, .lock, .useKey, .makeFileKey, .openFileKey, .rewrapFileKey, .backup,
            ])
    }

    @Test func scopesContainWhatTheySay() {
        #expect(GroupScope.every.contains("x"))
        #expect(GroupScope.only(["a", "b"]).contains("b"))
        #expect(!GroupScope.only(["a", "b"]).contains("c"))
        #expect(!GroupScope.only([]).contains("a"))
    }

    @Test func newItemsGoToTheFirstGroupOfOnesOwn() throws {
        func group(_ requested: String?, _ groups: [String]) throws -> String {
            try AccessPolicy.groupForNewItem(requested, client: Client(identifier: "c", accessGroups: groups))
        }
        #expect(try group(nil, ["a", "b"]) == "a")
        #expect(try group("b", ["a", "b"]) == "b")
        #expect(try group(nil, ["*", "b"]) == "b")
        #expect(throws: AccessDenied.noAccessGroups(client: "c")) { try group(nil, ["*"]) }
    }

    @Test func newItemsGoToThePreferredGroupOrNowhere() throws {
        func client(_ preferred: String, _ groups: [String]) -> Client {
            Client(identifier: "c", accessGroups: groups, preferredGroup: preferred)
        }
        #expect(try AccessPolicy.groupForNewItem(nil, client: client("b", ["a", "b"])) == "b")
        #expect(try AccessPolicy.groupForNewItem(nil, client: client("z", ["*"])) == "z")
        #expect(try AccessPolicy.groupForNewItem("a", client: client("z", ["a"])) == "a")
        let refusal = AccessDenied.groupNotHeld(group: "z", client: "c")
        #expect(throws: refusal) { try AccessPolicy.groupForNewItem(nil, client: client("z", ["a"])) }
        for kind in AccessRequest.Kind.allCases where kind != .synchronize {
            let unnamed = Result { () throws(AccessDenied) in
                try AccessPolicy.scope(of: AccessRequest(kind), for: client("z", ["a"]))
            }
            let named = Result { () throws(AccessDenied) in
                try AccessPolicy.scope(of: AccessRequest(kind, accessGroup: "a"), for: client("z", ["a"]))
            }
            #expect(unnamed == ([.add, .put, .exchange].contains(kind) ? .failure(refusal) : .success(.only(["a"]))))
            #expect(named == .success(.only(["a"])))
        }
        // Also if nothing is held at all.
        #expect(throws: refusal) { try AccessPolicy.scope(of: AccessRequest(.add), for: client("z", [])) }
    }

    @Test func whatDoesNotNameItsItemsStaysInTheGroupsThatCanBeListed() throws {
        func scope(_ group: String?, held: [String], listable: [String]) throws(AccessDenied) -> GroupScope {
            try AccessPolicy.scope(
                of: AccessRequest(.copy, accessGroup: group, namesItems: false),
                for: Client(identifier: "c", accessGroups: held, listableGroups: listable, rights: []))
        }
        let refusal = AccessDenied.rightNotHeld(right: "list", client: "c")
        #expect(try scope(nil, held: ["a", "b"], listable: ["b"]) == .only(["b"]))
        #expect(try scope("b", held: ["a", "b"], listable: ["b"]) == .only(["b"]))
        #expect(try scope(nil, held: ["*"], listable: ["*"]) == .every)
        #expect(throws: refusal) { try scope("a", held: ["a", "b"], listable: ["b"]) }
        #expect(throws: refusal) { try scope(nil, held: ["a"], listable: []) }
        #expect(throws: refusal) { try scope("a", held: ["*"], listable: ["b"]) }
        #expect(throws: AccessDenied.groupNotHeld(group: "c", client: "c")) {
            try scope("c", held: ["a"], listable: ["a"])
        }
        #expect(throws: AccessDenied.noAccessGroups(client: "c")) { try scope(nil, held: [], listable: []) }
    }

    @Test(arguments: AccessRequest.Kind.allCases, [CallerRights.list, .unlock, .administer, .synchronize])
    func rightsAllowWhatTheyName(_ kind: AccessRequest.Kind, _ right: CallerRights) throws {
        let client = Client(identifier: "c", accessGroups: ["*"], listableGroups: ["*"], rights: right)
        let needed: CallerRights? =
            switch kind {
            case .unlock, .lock: .unlock
            case .erase, .passcode: .administer
            case .synchronize: .synchronize
            default: nil
            }
        let operation = AccessRequest(kind)
        if let needed, needed != right {
            let name = CallerRights.names.first { $0.right == needed }?.name ?? ""
            #expect(throws: AccessDenied.rightNotHeld(right: name, client: "c")) {
                try AccessPolicy.scope(of: operation, for: client)
            }
        } else {
            #expect(try AccessPolicy.scope(of: operation, for: client) == .every)
        }
    }

    /// A carrier reads no item, so it needs no group.
    @Test func carriersNeedNoGroup() throws {
        let carrier = Client(identifier: "c", accessGroups: [], listableGroups: [], rights: .synchronize)
        #expect(try AccessPolicy.scope(of: AccessRequest(.synchronize), for: carrier) == .every)
        #expect(throws: AccessDenied.noAccessGroups(client: "c")) {
            try AccessPolicy.scope(of: AccessRequest(.copy), for: carrier)
        }
    }

    @Test func theWholeVaultIsForThoseWhoSeeAllOfItAndMayAdminister() throws {
        func scope(_ groups: [String], _ rights: CallerRights) throws(AccessDenied) -> GroupScope {
            try AccessPolicy.scope(
                of: AccessRequest(.status, isAboutWholeVault: true),
                for: Client(identifier: "c", accessGroups: groups, listableGroups: [], rights: rights))
        }
        #expect(try scope(["*"], .administer) == .every)
        #expect(throws: AccessDenied.groupNotHeld(group: "*", client: "c")) { try scope(["a"], .all) }
        #expect(throws: AccessDenied.rightNotHeld(right: "administer", client: "c")) { try scope(["*"], .unlock) }
        #expect(throws: AccessDenied.noAccessGroups(client: "c")) { try scope([], .all) }
    }

    @Test func queriesNameTheirItemsOrDoNot() {
        #expect(ItemQuery(itemClass: .genericPassword, attributes: [.service: .string("s")]).namesItems == false)
        #expect(
            ItemQuery(itemClass: .genericPassword, attributes: [.service: .string("s"), .account: .string("a")])
                .namesItems)
        #expect(ItemQuery(itemClass: .key, attributes: [.applicationTag: .data(Data([1]))]).namesItems)
        #expect(ItemQuery(itemClass: .certificate, identifier: UUID()).namesItems)
        #expect(!ItemQuery(itemClass: .identity).namesItems)
    }

    @Test func refusalsSayWhatToDo() {
        // With a daemon only a rule grants a group, and the variable narrows what the rules grant.
        let none = AccessDenied.noAccessGroups(client: "tool").description
        #expect(none.contains("a daemon grants one by a rule in its entitlements file"))
        #expect(none.contains("without a daemon, name one in KEYCHAIN_ACCESS_GROUPS"))
        let denied = AccessDenied.groupNotHeld(group: "team", client: "tool").description
        #expect(denied.contains("team") && denied.contains("tool"))
    }
}

@Suite struct AccessGateTests {
    private final class Log: AuditSink {
        let events = Mutex<[AuditEvent]>([])
        func record(_ event: AuditEvent) { events.withLock { $0.append(event) } }
    }

    @Test func refusalsAndEndsAreRecorded() throws {
        let log = Log()
        let gate = AccessGate(audit: log)
        let client = Client(identifier: "c", accessGroups: ["a"])
        let allowed = AccessRequest(.add, itemClass: .key, accessGroup: "a")
        let refused = AccessRequest(.delete, itemClass: .key, accessGroup: "b")

        let authorization = try gate.authorize(allowed, for: client, recordedAs: .written)
        #expect(authorization.request == allowed)
        #expect(authorization.client == client)
        #expect(authorization.scope == .only(["a"]))
        let denied = AccessDenied.groupNotHeld(group: "b", client: "c")
        #expect(throws: denied) { try gate.authorize(refused, for: client, recordedAs: .deleted) }
        gate.record(authorization, items: 1)
        gate.record(.unlockFailed, by: client, failure: .wrongPasscode)
        #expect(
            log.events.withLock { $0 } == [
                AuditEvent(.refused, client: "c", operation: refused, failure: .groupNotHeld),
                AuditEvent(.written, client: "c", operation: allowed, items: 1),
                AuditEvent(.unlockFailed, client: "c", failure: .wrongPasscode),
            ])
    }

    @Test func askingIsRecordedAsItEnded() {
        let log = Log()
        let gate = AccessGate(audit: log)
        let client = Client(identifier: "c", accessGroups: ["a"])
        gate.record(.succeeded([]), by: client)
        for failure in AuthenticationFailure.allCases { gate.record(.failed(failure), by: client) }
        let events = log.events.withLock { $0 }
        #expect(events.count == AuthenticationFailure.allCases.count + 1)
        #expect(events.first == AuditEvent(.authenticated, client: "c"))
        #expect(events.dropFirst().allSatisfy { $0.kind != .authenticated && $0.failure != nil })
        #expect(events.contains(AuditEvent(.authenticationCanceled, client: "c", failure: .canceled)))
    }
}
