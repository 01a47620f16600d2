import Foundation
import Glibc
import TestSupport
import Testing

/// `keychain file protect` and `unprotect` of a folder, killed on their way.
@Suite(.serialized) struct SoakProtectionTests {
    private let place: Workplace
    private let files: [String: Data]

    init() throws {
        place = try Workplace()
        var random = SeededGenerator()
        var files: [String: Data] = [:]
        for number in 0..<24 {
            let folder = ["records", "records/old", "records/old/older"][number % 3]
            files["\(folder)/\(number)"] = random.bytes([0, 100, 70_000, 400_000][random.int(below: 4)])
        }
        self.files = files
        try FileManager.default.createDirectory(
            atPath: place.path + "/records/old/older", withIntermediateDirectories: true)
        for (name, data) in files { try data.write(to: URL(filePath: place.path + "/" + name)) }
    }

    private func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: place.path + "/" + name)) }

    /// Everything is there, each file plain or protected. Removes what a kill between two system calls leaves: a second
    /// name of a whole file.
    ///
    /// - Returns: How many files are protected.
    private func check() throws -> Int {
        let found = try FileManager.default.subpathsOfDirectory(atPath: place.path + "/records")
        for name in found where name.split(separator: "/").last?.hasPrefix(".new.") == true {
            try FileManager.default.removeItem(atPath: place.path + "/records/" + name)
        }
        let names = files.keys.sorted()
        let left = try FileManager.default.subpathsOfDirectory(atPath: place.path + "/records").map { "records/" + $0 }
        #expect(Set(left) == Set(names).union(["records/old", "records/old/older"]))
        let sealed = try names.filter { try bytes($0) != files[$0] }
        guard !sealed.isEmpty else { return 0 }
        let outcome = try place.run(["keychain", "file", "cat"] + sealed.map { place.path + "/" + $0 })
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == sealed.reduce(Data()) { $0 + (files[$1] ?? Data()) })
        return sealed.count
    }

    /// Beyond the limit the kernel sends SIGXFSZ, which ends a process that does not expect it.
    @Test func filesThatMayNotGetLargeEnough() throws {
        _ = try place.run(["keychain", "init"])
        let path = place.path + "/records/large"
        let data = Data(repeating: 7, count: 2_000_000)
        try data.write(to: URL(filePath: path))
        let outcome = try place.shell("ulimit -f 1000; exec keychain file protect records/large")
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("cannot write records/large: File too large"), "\(outcome.errors)")
        #expect(try bytes("records/large") == data)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path + "/records").count == 10)
    }

    @Test func killedAtAnyTime() throws {
        var random = SeededGenerator()
        let commands = [["file", "protect", "--class", "complete"], ["file", "unprotect"]]
        func run(_ command: [String]) throws -> ProgramOutcome {
            try place.run(["keychain"] + command + [place.path + "/records"])
        }
        // How long it takes undisturbed, with a vault that is there.
        #expect(try run(commands[0]).status == 0)
        let start = ContinuousClock.now
        #expect(try run(commands[1]).status == 0)
        let time = (ContinuousClock.now - start) / .microseconds(1)
        var partly = 0
        for round in 0..<TestScale.count(6, soak: 250) {
            let command = commands[round % 2]
            let process = try place.start(["keychain"] + command + [place.path + "/records"]).start { actions in
                for descriptor in Int32(0)...2 {
                    posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
                }
            }
            usleep(useconds_t(Double.random(in: 0...time, using: &random)))
            kill(process, SIGKILL)
            let wasKilled = ProgramStart.wait(for: process) != 0
            let sealed = try check()
            // Nothing that was reported is missing.
            if !wasKilled { #expect(sealed == (round % 2 == 0 ? files.count : 0), "round \(round)") }
            if sealed > 0, sealed < files.count { partly += 1 }
            // Once more, and the rest is done.
            #expect(try run(command).status == 0, "round \(round), seed \(random.seed)")
            #expect(try check() == (round % 2 == 0 ? files.count : 0), "round \(round), seed \(random.seed)")
        }
        if TestScale.isSoak { print("recursive protection: killed on its way through the files in \(partly) rounds") }
    }
    /// Wrapping all keys anew: each file is the former one or the renewed one, and can be read.
    @Test func killedWhileRenewing() throws {
        var random = SeededGenerator()
        func run(_ command: [String]) throws -> ProgramOutcome {
            try place.run(["keychain"] + command + [place.path + "/records"])
        }
        // The class in which every wrapping is another one.
        #expect(try run(["file", "protect", "--class", "complete-unless-open"]).status == 0)
        let start = ContinuousClock.now
        let outcome = try run(["rekey", "--files-only"])
        let time = (ContinuousClock.now - start) / .microseconds(1)
        #expect(outcome.text == "\(files.count) files renewed\n")
        var partly = 0
        for round in 0..<TestScale.count(6, soak: 250) {
            let former = try files.keys.map { ($0, try bytes($0)) }
            let process = try place.start(["keychain", "rekey", "--files-only", place.path + "/records"])
                .start { actions in
                    for descriptor in Int32(0)...2 {
                        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
                    }
                }
            usleep(useconds_t(Double.random(in: 0...time, using: &random)))
            kill(process, SIGKILL)
            let wasKilled = ProgramStart.wait(for: process) != 0
            #expect(try check() == files.count)
            let renewed = try former.count { try bytes($0.0) != $0.1 }
            if !wasKilled { #expect(renewed == files.count, "round \(round)") }
            if renewed > 0, renewed < files.count { partly += 1 }
            // Once more, and all are renewed.
            #expect(try run(["rekey", "--files-only"]).text == outcome.text, "round \(round), seed \(random.seed)")
            #expect(try check() == files.count)
        }
        if TestScale.isSoak { print("renewal: killed on its way through the files in \(partly) rounds") }
    }
}
