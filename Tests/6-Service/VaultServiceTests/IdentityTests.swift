import Access
import Foundation
import Glibc
import TestSupport
import Testing

/// Programs are told apart by what the kernel says of them.
@Suite struct IdentityTests {
    @Test func twoExecutablesOfOneUserDoNotSeeEachOther() throws {
        let daemon = try DaemonUnderTest(rules: [])
        let (first, second) = (try daemon.program("first"), try daemon.program("second"))
        #expect(try daemon.says(first, "put", "treasure") == "stored in \(first)")
        #expect(try daemon.says(first, "get") == "treasure")
        #expect(try daemon.says(second, "groups") == second)
        #expect(try daemon.says(second, "get").hasSuffix("no such item"))
        #expect(try daemon.says(second, "get", first).hasPrefix("accessDenied"))
        #expect(try daemon.says(second, "list").hasSuffix("no such item"))
        #expect(try daemon.says(second, "list", first).hasPrefix("accessDenied"))
        #expect(try daemon.says(second, "update").hasSuffix("no such item"))
        #expect(try daemon.says(second, "delete").hasSuffix("no such item"))
        #expect(try daemon.says(second, "put", "x", first).hasPrefix("accessDenied"))
        #expect(try daemon.says(second, "count") == "0 items")
        #expect(try daemon.says(second, "erase").hasPrefix("accessDenied"))
        #expect(try daemon.says(first, "get") == "treasure")
    }

    /// The same executable of the same user as two services.
    @Test func twoUnitsOfOneUserDoNotSeeEachOther() throws {
        try #require(geteuid() == 0, "the test makes control groups, which takes root")
        let daemon = try DaemonUnderTest(rules: [])
        let (first, second) = (try ControlGroup(), try ControlGroup())
        func says(_ unit: ControlGroup, _ words: String...) throws -> String {
            let worker = try Worker(["remote", daemon.socket, "later"] + words)
            #expect(worker.readLine() == "ready")
            try unit.admit(worker.process)
            worker.cue()
            return worker.readLine() ?? "nothing"
        }
        #expect(try says(first, "put", "treasure") == "stored in unit:\(first.unit)")
        #expect(try says(first, "get") == "treasure")
        #expect(try says(second, "groups") == "unit:\(second.unit)")
        for words in ["get", "list", "update", "delete"] {
            #expect(try says(second, words).hasSuffix("no such item"), "\(words)")
        }
        #expect(try says(second, "get", "unit:\(first.unit)").hasPrefix("accessDenied"))
        #expect(try says(second, "count") == "0 items")
        #expect(try says(first, "get") == "treasure")
    }

    /// Names go to logs, prompts and terminals.
    @Test func aPathWithControlCharactersNamesNobody() throws {
        let daemon = try DaemonUnderTest(rules: [])
        #expect(try daemon.says(daemon.program("plain"), "put", "x").hasPrefix("stored"))
        for name in ["evil\u{1B}[2J", "two\nlines"] {
            #expect(try daemon.says(daemon.program(name), "put", "x").hasPrefix("accessDenied"))
        }
    }

    @Test func aGroupCanBeSharedAndItsListingHeldBack() throws {
        let daemon = try DaemonUnderTest(rules: [])
        let (first, second) = (try daemon.program("first"), try daemon.program("second"))
        try daemon.setRules([
            #"{"executable": "\#(first)", "groups": ["TEAM"], "rights": ["list"]}"#,
            #"{"executable": "\#(second)", "groups": ["TEAM"]}"#,
        ])
        try eventually("the rules are read again") { try daemon.says(first, "groups") == "TEAM,\(first)" }
        #expect(try daemon.says(first, "put", "treasure") == "stored in TEAM")
        #expect(try daemon.says(first, "list", "TEAM") == "1 items")
        #expect(try daemon.says(second, "get", "TEAM") == "treasure")
        #expect(try daemon.says(second, "list", "TEAM").contains("does not hold the right 'list'"))
        #expect(try daemon.says(second, "list").hasSuffix("no such item"))
    }

    @Test func aMistakeInTheRulesLeavesTheLastOnesInForce() throws {
        let daemon = try DaemonUnderTest(rules: [])
        let program = try daemon.program("program")
        try daemon.setRules([#"{"executable": "\#(program)", "groups": ["ONE"]}"#])
        try eventually("the rules are read again") { try daemon.says(program, "groups") == "ONE,\(program)" }
        try daemon.setRules([#"{"executable": "\#(program)", "group": ["TWO"]}"#])
        // Longer than a change of the file may go unseen; what comes next has the daemon look.
        usleep(250_000)
        #expect(try daemon.says(program, "groups") == "ONE,\(program)")
    }

    @Test func aGrantThatIsTakenAwayEndsOnOpenConnections() throws {
        let daemon = try DaemonUnderTest(rules: [])
        let program = try daemon.program("program")
        try daemon.setRules([#"{"executable": "\#(program)", "groups": ["ONE"]}"#])
        try eventually("the rules are read again") { try daemon.says(program, "groups") == "ONE,\(program)" }
        let holder = try Worker(["remote", daemon.socket, "hold"], command: program)
        #expect(holder.readLine() == "holding")
        try daemon.setRules([])
        try eventually("the rules are read again") { try daemon.says(program, "groups") == program }
        holder.cue()
        #expect(holder.readLine() == "still \(program)")
    }

    @Test func anotherUserNeedsARuleAndHasGroupsOfItsOwn() throws {
        try #require(geteuid() == 0, "the test changes its user, which takes root")
        let daemon = try DaemonUnderTest(["--system"], rules: [])
        chmod(daemon.folder.path, 0o755)
        let (first, second) = (try daemon.program("first"), try daemon.program("second"))
        #expect(try daemon.says(first, "as", "65534", "groups").contains("user 65534 is no caller of this vault"))
        try daemon.setRules([#"{"uid": 65534}"#])
        try eventually("the rules are read again") {
            try daemon.says(first, "as", "65534", "groups") == "uid:65534:\(first)"
        }
        #expect(try daemon.says(first, "as", "65534", "put", "theirs") == "stored in uid:65534:\(first)")
        #expect(try daemon.says(first, "get").hasSuffix("no such item"))
        #expect(try daemon.says(first, "put", "ours") == "stored in \(first)")
        #expect(try daemon.says(first, "as", "65534", "get") == "theirs")
        #expect(try daemon.says(first, "as", "65534", "get", first).hasPrefix("accessDenied"))
        #expect(try daemon.says(second, "as", "65534", "get").hasSuffix("no such item"))
        #expect(try daemon.says(first, "as", "65534", "count") == "1 items")
        #expect(try daemon.says(first, "as", "65533", "groups").contains("is no caller"))
    }

    /// A connection belongs to the program that made it.
    @Test func aConnectionDoesNotSurviveAnotherProgram() throws {
        let daemon = try DaemonUnderTest(rules: [])
        let (first, second) = (try daemon.program("first"), try daemon.program("second"))
        #expect(try daemon.says(first, "exec", second).contains("not the one that uses it"))
        #expect(try daemon.says(first, "exec", first) == "answered")
    }

    /// A program whose file was replaced is not what is at that path now.
    @Test func aReplacedProgramKeepsItsConnectionsAndGetsNoNewOnes() throws {
        let daemon = try DaemonUnderTest(rules: [])
        let program = try daemon.program("program")
        let holder = try Worker(["remote", daemon.socket, "hold"], command: program)
        #expect(holder.readLine() == "holding")
        let late = try Worker(["remote", daemon.socket, "later", "get"], command: program)
        #expect(late.readLine() == "ready")
        unlink(program)
        _ = try daemon.program("program")
        holder.cue()
        #expect(holder.readLine() == "still \(program)")
        late.cue()
        #expect(late.readLine()?.contains("holds no access group") == true)
        #expect(try daemon.says(program, "groups") == program)
    }
}
