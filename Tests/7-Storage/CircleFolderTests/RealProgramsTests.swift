import Foundation
import Glibc
import TestSupport
import Testing
import VaultInterface

@testable import CircleFolder

/// Circles whose folder real programs bring to each machine.
@Suite(.serialized) struct RealProgramsTests {
    private let place: TemporaryFolder

    init() throws { place = try TemporaryFolder() }

    private func machines(_ count: Int) throws -> [MachineUnderTest] {
        try (0..<count).map { try MachineUnderTest("machine \($0)", folder: place.path(of: "\($0)")) }
    }

    private func expectEqual(_ machines: [MachineUnderTest], _ stored: [String: Set<String>]) throws {
        let contents = try machines.map { try $0.contents() }
        #expect(Set(contents).count == 1)
        #expect(Set(contents[0].keys) == Set(stored.keys))
        for (account, value) in contents[0] { #expect(stored[account]?.contains(value) == true) }
        for machine in machines {
            #expect(machine.carrier.report.alarms.isEmpty, "\(machine.carrier.report.alarms)")
            #expect(machine.carrier.report.refused == 0)
            #expect(!machine.files().contains { $0.contains("conflict") })
        }
    }

    // MARK: git

    private func git(_ arguments: String..., in folder: String) throws {
        let outcome = try ProgramStart(
            ["/usr/bin/git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@example.com"] + arguments,
            environment: ["PATH=/usr/bin:/bin", "HOME=\(place.path)"]
        ).run()
        try #require(outcome.status == 0, "git \(arguments): \(outcome.errors)")
    }

    /// The folder is a repository: each machine commits, rebases and pushes, and git never finds a conflict.
    @Test func throughGit() throws {
        let bare = place.path(of: "circle.git")
        try git("init", "--quiet", "--bare", "--initial-branch=main", bare, in: place.path)
        let machines = try machines(3)
        for machine in machines {
            try git("init", "--quiet", "--initial-branch=main", in: machine.folder)
            try git("remote", "add", "origin", bare, in: machine.folder)
        }
        try FolderContents.write(Data("the circle's folder\n".utf8), to: machines[0].folder + "/README")
        func exchange(_ machine: MachineUnderTest) throws {
            let isInvited = try machine.status().standing != .none
            if isInvited { try machine.carrier.synchronize() }
            try git("add", "--all", in: machine.folder)
            try git("commit", "--quiet", "--allow-empty", "-m", machine.name, in: machine.folder)
            if machine !== machines[0] || FileManager.default.fileExists(atPath: machine.folder + "/.git/refs/remotes")
            {
                try git("pull", "--quiet", "--rebase", "origin", "main", in: machine.folder)
            }
            try git("push", "--quiet", "origin", "main", in: machine.folder)
            if isInvited { try machine.carrier.synchronize() }
        }
        try git("add", "--all", in: machines[0].folder)
        try git("commit", "--quiet", "-m", "begin", in: machines[0].folder)
        try git("push", "--quiet", "origin", "main", in: machines[0].folder)
        try MachineUnderTest.makeCircle(machines) { for machine in machines { try exchange(machine) } }
        var (random, stored) = (SeededGenerator(), [String: Set<String>]())
        for round in 0..<TestScale.count(12, soak: 300) {
            let machine = machines[Int.random(in: 0..<3, using: &random)]
            let account = "\(Int.random(in: 0..<5, using: &random))"
            try machine.put(account, "value \(round)")
            stored[account, default: []].insert("value \(round)")
            if Bool.random(using: &random) { try exchange(machine) }
        }
        for _ in 0..<3 { for machine in machines { try exchange(machine) } }
        try expectEqual(machines, stored)
        // Who joined has taken its request away.
        for machine in machines { #expect(!machine.files().contains { $0.hasSuffix(".req") }) }
    }

    // MARK: rsync

    enum Copying: CaseIterable {
        /// As Use/Circle.md says: whatever is longer stays, in both directions.
        case appending
        /// Each machine sends what it wrote, as whole files.
        case replacing
        /// The same, into the files that are there.
        case inPlace

        var options: [String] {
            switch self {
            case .appending: ["--recursive", "--append-verify"]
            case .replacing: ["--recursive", "--times"]
            case .inPlace: ["--recursive", "--times", "--inplace"]
            }
        }
    }

    /// Copies from one machine to another.
    ///
    /// - Parameter microseconds: When the copying is killed; nil lets it end.
    private func rsync(
        _ copying: Copying, from: MachineUnderTest, to: MachineUnderTest, killedAfter microseconds: UInt32? = nil
    ) throws {
        var arguments = ["/usr/bin/rsync"] + copying.options
        if microseconds != nil { arguments.append("--bwlimit=400") }
        if copying != .appending {
            let number = try from.status().number
            let digits = String(number, radix: 16)
            let own = String(repeating: "0", count: 8 - digits.count) + digits
            arguments += ["--include=/*/", "--include=/*/requests/", "--include=/*/requests/**"]
            arguments += ["--include=/*/\(own)/", "--include=/*/\(own)/**", "--exclude=*"]
        }
        let program = ProgramStart(arguments + [from.folder + "/", to.folder + "/"])
        guard let microseconds else {
            let outcome = try program.run()
            try #require(outcome.status == 0 || outcome.status == 24, "rsync: \(outcome.errors)")
            return
        }
        let process = try program.start { actions in
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        usleep(microseconds)
        kill(process, Bool.random() ? SIGKILL : SIGTERM)
        ProgramStart.wait(for: process)
    }

    /// Copies go in any order and both directions, and many of them are killed in the middle.
    @Test(arguments: Copying.allCases) func throughRsync(copying: Copying) throws {
        let machines = try machines(3)
        func copyAll() throws {
            for from in machines {
                for to in machines where to !== from { try rsync(copying, from: from, to: to) }
            }
        }
        try MachineUnderTest.makeCircle(machines, carry: copyAll)
        var (random, stored) = (SeededGenerator(), [String: Set<String>]())
        for round in 0..<TestScale.count(20, soak: 1_000) {
            let machine = machines[Int.random(in: 0..<3, using: &random)]
            let account = "\(Int.random(in: 0..<6, using: &random))"
            let value = "\(round) " + String(repeating: "value ", count: Int.random(in: 0..<9_000, using: &random))
            try machine.put(account, value)
            stored[account, default: []].insert(value)
            if Bool.random(using: &random) { try machine.carrier.synchronize() }
            let (from, to) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<3, using: &random))
            guard from != to else { continue }
            try rsync(
                copying, from: machines[from], to: machines[to],
                killedAfter: Bool.random(using: &random) ? .random(in: 2_000..<60_000, using: &random) : nil)
            try machines[to].carrier.synchronize()
        }
        for _ in 0..<4 {
            for machine in machines { try machine.carrier.synchronize() }
            try copyAll()
        }
        for machine in machines { try machine.carrier.synchronize() }
        try expectEqual(machines, stored)
    }

    // MARK: Syncthing

    /// Three instances that know each other and nobody else. One of them is stopped for a while, so that what it has
    /// comes late; the others go on.
    @Test func throughSyncthing() throws {
        let machines = try machines(3)
        let instances = try SyncthingUnderTest.start(in: place.path(of: "syncthing"), folders: machines.map(\.folder))
        defer { for instance in instances { instance.end() } }
        func isEverywhere() throws -> Bool {
            let files = machines.map { $0.files() }
            guard Set(files).count == 1 else { return false }
            return files[0].allSatisfy { file in
                // One that is just replaced is read the next time.
                Set(machines.map { try? Data(contentsOf: URL(filePath: $0.folder + "/" + file)) }).count == 1
            }
        }
        try MachineUnderTest.makeCircle(machines) { try eventually("the files are everywhere", isEverywhere) }
        var (random, stored) = (SeededGenerator(), [String: Set<String>]())
        for round in 0..<TestScale.count(12, soak: 300) {
            if round % 6 == 1 { instances[round % 3].stop() }
            if round % 6 == 5 { for instance in instances { instance.goOn() } }
            let machine = machines[Int.random(in: 0..<3, using: &random)]
            let account = "\(Int.random(in: 0..<5, using: &random))"
            try machine.put(account, "value \(round)")
            stored[account, default: []].insert("value \(round)")
            try machine.carrier.synchronize()
            usleep(.random(in: 0..<300_000, using: &random))
            for machine in machines where Bool.random(using: &random) { try machine.carrier.synchronize() }
        }
        for instance in instances { instance.goOn() }
        try eventually("all machines have the same") {
            for machine in machines { try machine.carrier.synchronize() }
            let contents = try machines.map { try $0.contents() }
            return Set(contents).count == 1 && Set(contents[0].keys) == Set(stored.keys)
        }
        try eventually("the files are everywhere", isEverywhere)
        for machine in machines { try machine.carrier.synchronize() }
        try expectEqual(machines, stored)
    }
}

/// An instance of the real Syncthing, on the loopback interface: it finds others by its configuration alone.
final class SyncthingUnderTest {
    private let process: pid_t

    private init(_ process: pid_t) { self.process = process }

    /// - Parameters:
    ///   - path: A folder for what the instances keep.
    ///   - folders: The folder of each instance, which becomes the same in all.
    static func start(in path: String, folders: [String]) throws -> [SyncthingUnderTest] {
        var (homes, identifiers, ports) = ([String](), [String](), [Int]())
        for number in folders.indices {
            let home = path + "/\(number)"
            try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
            let made = try ProgramStart([
                "syncthing", "generate", "--home=\(home)", "--no-default-folder", "--skip-port-probing",
            ]).run()
            try #require(made.status == 0, "\(made.errors)")
            let asked = try ProgramStart(["syncthing", "serve", "--device-id", "--home=\(home)"]).run()
            homes.append(home)
            identifiers.append(asked.text.trimmingCharacters(in: .whitespacesAndNewlines))
            // Only to find a port that is free.
            ports.append(try LoopbackServer { _ in .nothing }.port)
        }
        return try folders.indices.map { number in
            try FileManager.default.createDirectory(
                atPath: folders[number] + "/.stfolder", withIntermediateDirectories: true)
            try configuration(number, folders, identifiers, ports).write(
                toFile: homes[number] + "/config.xml", atomically: true, encoding: .utf8)
            let environment = ["PATH=/usr/bin:/bin", "HOME=\(homes[number])", "STNOUPGRADE=1", "STNORESTART=1"]
            let process = try ProgramStart(
                ["syncthing", "serve", "--no-browser", "--no-restart", "--home=\(homes[number])"],
                environment: environment
            ).start { actions in
                posix_spawn_file_actions_addopen(&actions, 1, homes[number] + "/log", O_WRONLY | O_CREAT, 0o600)
            }
            return SyncthingUnderTest(process)
        }
    }

    private static func configuration(
        _ number: Int, _ folders: [String], _ identifiers: [String], _ ports: [Int]
    ) -> String {
        let devices = identifiers.indices.map { other in
            "<device id=\"\(identifiers[other])\" name=\"\(other)\"><address>tcp://127.0.0.1:\(ports[other])</address></device>"
        }
        let sharing = identifiers.map { "<device id=\"\($0)\"></device>" }
        return """
            <configuration version="36">
              <folder id="circle" path="\(folders[number])" type="sendreceive" rescanIntervalS="1" fsWatcherEnabled="true"
                  fsWatcherDelayS="1" ignorePerms="true">
                \(sharing.joined())
                <minDiskFree unit="%">0</minDiskFree>
              </folder>
              \(devices.joined())
              <gui enabled="false"></gui>
              <options>
                <listenAddress>tcp://127.0.0.1:\(ports[number])</listenAddress>
                <globalAnnounceEnabled>false</globalAnnounceEnabled>
                <localAnnounceEnabled>false</localAnnounceEnabled>
                <relaysEnabled>false</relaysEnabled>
                <natEnabled>false</natEnabled>
                <reconnectionIntervalS>1</reconnectionIntervalS>
                <startBrowser>false</startBrowser>
                <urAccepted>-1</urAccepted>
                <crashReportingEnabled>false</crashReportingEnabled>
                <autoUpgradeIntervalH>0</autoUpgradeIntervalH>
              </options>
            </configuration>
            """
    }

    func stop() { kill(process, SIGSTOP) }

    func goOn() { kill(process, SIGCONT) }

    func end() {
        goOn()
        kill(process, SIGKILL)
        ProgramStart.wait(for: process)
    }
}
