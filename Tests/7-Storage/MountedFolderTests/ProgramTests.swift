import Foundation
import Glibc
import TestSupport
import Testing

/// Programs that ask much of a file system, at work in a mount.
@Suite struct ProgramTests {
    @Test func versionControlAndBuild() throws {
        let mount = try MountUnderTest()
        let files = TestScale.count(60, soak: 2000)
        try mount.shell(
            """
            export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com
            export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
            git init -q source; cd source
            for i in $(seq \(files)); do
                mkdir -p "d$((i % 7))"; seq $i $((i * 20)) > "d$((i % 7))/f$i"
            done
            git add .; git commit -q -m first
            for i in $(seq 1 3 \(files)); do echo change >> "d$((i % 7))/f$i"; done
            test "$(git status --porcelain | wc -l)" = "$(seq 1 3 \(files) | wc -l)"
            git commit -q -a -m second; git gc -q; git fsck --strict
            cd ..; git clone -q source clone; cd clone
            git checkout -q HEAD~1; git checkout -q -; git status --porcelain | wc -l | grep -qx 0
            git fsck --strict; git log --oneline | wc -l | grep -qx 2
            """)
        try mount.shell("diff -r --exclude=.git source clone")
        // Times decide what is made again.
        try mount.shell(
            """
            mkdir build; cd build
            printf '%b\\n' 'all: sum' 'sum: $(wildcard ../source/d1/*)' '\\tcat $^ | wc -c > $@; echo made >> log' > Makefile
            make -s; make -s; test "$(wc -l < log)" = 1
            sleep 0.01; echo more >> ../source/d1/f1; make -s; test "$(wc -l < log)" = 2
            tar cf ../all.tar -C ../source .; mkdir out; tar xf ../all.tar -C out; diff -r ../source out
            cp -a ../source copied; diff -r ../source copied
            test "$(stat -c %Y.%a copied/d1/f1)" = "$(stat -c %Y.%a ../source/d1/f1)"
            """)
        try mount.unmount()
        try mount.mount()
        try mount.shell("git -C clone fsck --strict; cd build; make -s; test \"$(wc -l < log)\" = 2")
    }

    private static let database = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Peer/database.py"

    /// Several processes write to a database whose index of the log is memory that they share; one of them is killed
    /// now and then.
    @Test func database() throws {
        let mount = try MountUnderTest()
        let file = mount.path("data.sqlite")
        func start(_ words: String...) throws -> Worker {
            try Worker(["-B", Self.database, file] + words, command: "python3")
        }
        let setup = try start("setup")
        try #require(setup.wait() == 0)
        let rounds = TestScale.count(3, soak: 40)
        var committed = 0
        for round in 0..<rounds {
            let writers = try (0..<3).map { try start("write", "\(round)-\($0)", "40") }
            let victim = try start("write", "victim-\(round)", "100000")
            _ = victim.readLine()
            // In the midst of its work, which it reports line by line.
            for _ in 0..<10 { _ = victim.readLine() }
            victim.kill()
            victim.wait()
            for writer in writers {
                let lines = writer.remainingLines()
                try #require(writer.wait() == 0, "\(lines)")
                committed += 40
            }
            committed += 10
            let check = try start("check", "\(committed)")
            let lines = check.remainingLines()
            #expect(check.wait() == 0, "\(lines)")
        }
        // The process of the mount is killed with the database open.
        let writer = try start("write", "last", "100000")
        for _ in 0..<30 { _ = writer.readLine() }
        try mount.end(SIGKILL)
        writer.kill()
        writer.wait()
        try mount.mount()
        let check = try start("check", "\(committed + 29)")
        let lines = check.remainingLines()
        #expect(check.wait() == 0, "\(lines)")
    }
}
