import Foundation
import Glibc
import TestSupport
import Testing

/// `keychain run` with real programs. What it says is in the transcript of the same name.
@Suite struct RunTests {
    private static let secret = "correct-horse-battery"
    private let workplace: Workplace
    /// A folder in memory for the files of one test alone.
    private let memory: TemporaryFolder
    private var runtime: String { memory.path }

    init() throws {
        workplace = try Workplace()
        memory = try TemporaryFolder(in: "/dev/shm")
        _ = try workplace.run(["keychain", "set", "db", "alice"], input: Data(Self.secret.utf8))
    }

    private func shell(_ command: String) throws -> ProgramOutcome {
        try workplace.shell("export XDG_RUNTIME_DIR=\(runtime)\n" + command)
    }

    /// A script that runs beside this process, with fifos to be told of things and to tell them.
    private func start(_ script: String) throws -> pid_t {
        for name in ["said", "cue"] { mkfifo("\(workplace.path)/\(name)", 0o600) }
        return try workplace.start(["/bin/sh", "-c", "cd \"$HOME\"; export XDG_RUNTIME_DIR=\(runtime)\n" + script])
            .start { actions in
                posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
                posix_spawn_file_actions_addopen(&actions, 1, workplace.path + "/out", O_WRONLY | O_CREAT, 0o600)
                posix_spawn_file_actions_addopen(&actions, 2, workplace.path + "/err", O_WRONLY | O_CREAT, 0o600)
            }
    }

    /// What is written into the fifo `said` until its end.
    private func said() throws -> String {
        try withDeadline("the script says something", ending: unblock("said")) {
            let descriptor = try open("said", O_RDONLY)
            defer { close(descriptor) }
            var (text, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
            while case let count = read(descriptor, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// Writes into the fifo `cue`, for as many readers as there are.
    private func cue() throws {
        try withDeadline("the script reads its cue", ending: unblock("cue")) {
            let descriptor = try open("cue", O_WRONLY)
            _ = write(descriptor, "\n\n", 2)
            close(descriptor)
        }
    }

    /// Has somebody who waits for the other end of a fifo find one that closes.
    private func unblock(_ name: String) -> @Sendable () -> Void {
        let path = "\(workplace.path)/\(name)"
        return { close(Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)) }
    }

    private func open(_ name: String, _ mode: Int32) throws -> Int32 {
        let descriptor = Glibc.open("\(workplace.path)/\(name)", mode | O_CLOEXEC)
        guard descriptor >= 0 else { throw WorkplaceError(operation: "open \(name)", errno: errno) }
        return descriptor
    }

    private func left() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: runtime) }

    @Test func bytesThatAreNoTextComeAsTheyAre() throws {
        let secret = Data((1...255).map { UInt8($0) })
        _ = try workplace.run(["keychain", "set", "key", "binary", "--raw"], input: secret)
        let outcome = try workplace.run(
            ["keychain", "run", "--env", "K=keychain://key/binary", "--", "/bin/sh", "-c", "printf %s \"$K\""])
        #expect(outcome.output == secret)
    }

    /// Without files and masks nothing of `keychain` stays: the program has its process.
    @Test func theProgramTakesThePlaceOfTheCommand() throws {
        let outcome = try shell(
            """
            exec 7< /dev/null; export KEPT=yes A=before
            sh -c 'echo $$; exec keychain run --env A=keychain://db/alice -- sh -c "echo \\$\\$; echo \\$KEPT \\$A; \
            ls -x /proc/self/fd"'
            """)
        let lines = outcome.text.split(separator: "\n").map(String.init)
        try #require(lines.count == 4, "\(outcome.text)\(outcome.errors)")
        #expect(lines[0] == lines[1])
        #expect(lines[2] == "yes \(Self.secret)")
        // Descriptor 3 is the folder that `ls` reads.
        #expect(lines[3].split(separator: " ") == ["0", "1", "2", "3"])
    }

    /// A signal that this program ignores for itself ends a program as usual; one that its caller ignores does not.
    @Test(arguments: ["--env", "--file"])
    func signalsAreAsBefore(option: String) throws {
        let outcome = try shell(
            """
            keychain run \(option) A=keychain://db/alice -- sh -c 'kill -PIPE $$'; echo $?
            trap '' TERM
            keychain run \(option) A=keychain://db/alice -- sh -c 'kill -TERM $$; exit 3'; echo $?
            """)
        #expect(outcome.text == "\(128 + SIGPIPE)\n3\n", "\(outcome.errors)")
        #expect(try left() == [])
    }

    @Test(arguments: ["", "--mask"])
    func nothingOfItIsInArgumentsOrTheCommandsOwnEnvironment(mask: String) throws {
        let outcome = try shell(
            """
            keychain run \(mask) --env A=keychain://db/alice --file F=keychain://db/alice -- sh -c '
                tr "\\000" " " < /proc/$PPID/cmdline; echo; tr "\\000" "\\n" < /proc/$PPID/environ | grep -c "^A="
                grep -l -r -e "$A" /proc/$PPID/cmdline /proc/$PPID/environ; cat /proc/$PPID/comm; ls /proc/self/fd | wc -l'
            """)
        #expect(outcome.text.hasPrefix("keychain run"), "\(outcome.text)\(outcome.errors)")
        // Descriptor 3 is the folder that `ls` reads.
        #expect(outcome.text.hasSuffix("\n0\nkeychain\n4\n"), "\(outcome.text)\(outcome.errors)")
        #expect(try left() == [])
    }

    @Test(arguments: ["exit 9", "kill -KILL $$", "kill -SEGV $$"])
    func filesGoWithTheProgram(end: String) throws {
        let outcome = try shell(
            """
            umask 0277
            keychain run --file A=keychain://db/alice -- sh -c '
                chmod 700 .; stat -c "%a %n" "$A" "${A%/*}" >&2; stat -f -c %T "$A" >&2; chmod 400 "$A"
                mkdir -m 700 "${A%/*}/more"; ln -s "$A" "${A%/*}/more/link"
                : > "${A%/*}/more/$(printf "\\377")"; chmod 0 "${A%/*}/more"; \(end)'
            """)
        let status = end == "exit 9" ? 9 : 128 + (end.contains("KILL") ? SIGKILL : SIGSEGV)
        #expect(outcome.status == status)
        let lines = outcome.errors.split(separator: "\n").map(String.init)
        try #require(lines.count == 3, "\(outcome.errors)")
        #expect(lines[0].hasPrefix("600 \(runtime)/keychain-run-") && lines[0].hasSuffix("/A"))
        #expect(lines[1].hasPrefix("700 \(runtime)/keychain-run-"))
        #expect(lines[2] == "tmpfs")
        #expect(try left() == [])
    }

    /// Whoever has a file open still sees zeros.
    @Test func filesAreWiped() throws {
        let script = try start(
            """
            keychain run --file A=keychain://db/alice -- sh -c 'echo "$A" > said; read -r line < cue'
            """)
        let path = try said().trimmingCharacters(in: .whitespacesAndNewlines)
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 1, count: 100)
        #expect(pread(descriptor, &bytes, bytes.count, 0) == Self.secret.utf8.count)
        #expect(bytes.starts(with: Self.secret.utf8))
        try cue()
        #expect(ProgramStart.wait(for: script) == 0)
        #expect(pread(descriptor, &bytes, bytes.count, 0) == Self.secret.utf8.count)
        #expect(bytes.prefix(Self.secret.utf8.count).allSatisfy { $0 == 0 })
        #expect(try left() == [])
    }

    /// The shell runs its trap between two commands. A command without end would keep it waiting if the signal came
    /// just before its first system call.
    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2], ["", "--mask"])
    func signalsArePassedOn(signal: Int32, mask: String) throws {
        let script = try start(
            """
            exec keychain run \(mask) --file A=keychain://db/alice -- sh -c '
                trap "echo got $0; exit 6" \(signal)
                echo ready > said; while :; do sleep 0.02; done' $0
            """)
        #expect(try said() == "ready\n")
        kill(script, signal)
        #expect(ProgramStart.wait(for: script) == 6)
        #expect(try String(contentsOfFile: workplace.path + "/out", encoding: .utf8).split(separator: "\n").count == 1)
        #expect(try left() == [])
    }

    /// A program that does nothing about a signal is ended by it, and the files go.
    @Test func aSignalEndsBoth() throws {
        let script = try start(
            "exec keychain run --file A=keychain://db/alice -- sh -c 'echo > said; exec cat cue'")
        _ = try said()
        kill(script, SIGTERM)
        #expect(ProgramStart.wait(for: script) == 128 + SIGTERM)
        #expect(try left() == [])
    }

    /// The terminal tells both, and the program hears it once.
    @Test(arguments: [("\u{03}", "INT"), ("\u{1C}", "QUIT")])
    func theTerminalsSignalsComeOnce(key: String, name: String) throws {
        let script = """
            cd "$HOME"; export XDG_RUNTIME_DIR=\(runtime)
            keychain run --file A=keychain://db/alice -- sh -c 'trap "echo got it" \(name)
                echo ready; read -r line; read -r line; echo done'; echo status $?
            """
        let terminal = try Pseudoterminal(workplace, ["/bin/sh", "-c", "trap : \(name)\n" + script])
        try terminal.expect("ready")
        terminal.type(key)
        try terminal.expect("got it")
        terminal.type("one\ntwo\n")
        try terminal.expect("status 0")
        _ = try terminal.finish()
        #expect(terminal.screen.components(separatedBy: "got it").count == 2, "\(terminal.screen)")
        #expect(try left() == [])
    }

    /// Stopped at the terminal and started again, as any other job.
    @Test(arguments: ["--env", "--file"])
    func jobControlWorks(option: String) throws {
        let script = """
            export XDG_RUNTIME_DIR=\(runtime)
            keychain run \(option) A=keychain://db/alice -- sh -c 'echo ready; read -r line; echo "line: $line"'
            echo stopped $?; fg; echo status $?
            """
        let terminal = try Pseudoterminal(workplace, ["/bin/sh", "-mc", script])
        try terminal.expect("ready")
        terminal.type("\u{1A}")
        try terminal.expect("stopped \(128 + SIGTSTP)")
        terminal.type("hello\n")
        try terminal.expect("line: hello")
        try terminal.expect("status 0")
        _ = try terminal.finish()
        #expect(try left() == [])
    }

    /// What a killed `keychain run` leaves goes with the next one, and what a living one has stays.
    @Test func leftoversAreRemoved() throws {
        let killed = try start(
            "exec keychain run --file A=keychain://db/alice -- sh -c 'echo > said; exec cat cue'")
        _ = try said()
        let before = try left()
        #expect(before.count == 1)
        // The program is still there, and has none of the files' locks.
        kill(killed, SIGKILL)
        #expect(ProgramStart.wait(for: killed) == 128 + SIGKILL)
        #expect(try left() == before)
        let living = try start(
            "exec keychain run --file A=keychain://db/alice -- sh -c 'echo > said; read -r line < cue; cat \"$A\"'")
        _ = try said()
        let after = try left()
        #expect(after.count == 1 && after != before)
        #expect(try shell("keychain run --env A=keychain://db/alice -- true").status == 0)
        #expect(try left() == after)
        // Both of those that wait for a cue see its end.
        try cue()
        #expect(ProgramStart.wait(for: living) >= 0)
        #expect(try left() == [])
    }

    @Test func filesNeedAFileSystemInMemory() throws {
        // A folder on a disk, or one that is open to others, is passed over.
        let outcome = try workplace.shell(
            """
            mkdir -m 700 disk; chmod 755 \(runtime)
            for place in "$HOME/disk" \(runtime) disk; do
                XDG_RUNTIME_DIR=$place keychain run --file A=keychain://db/alice -- sh -c 'echo "$A"'
            done
            """)
        let lines = outcome.text.split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.hasPrefix("/dev/shm/keychain-run-") }, "\(outcome.errors)")
    }

    /// A secret that comes in pieces, from two streams, and a prompt that does not wait.
    @Test func masksReachAcrossWrites() throws {
        let half = Self.secret.count / 2
        let (first, second) = (Self.secret.prefix(half), Self.secret.dropFirst(half))
        let script = try start(
            """
            keychain run --mask --env A=keychain://db/alice -- sh -c '
                printf "Name: "; read -r line < cue
                printf "x\(first)"; printf "\(first)" >&2; echo > said
                printf "\(second)y\\n"; printf "\(second)\\n" >&2; printf %s "${A%?}"; exit 8'
            """)
        let out = workplace.path + "/out"
        try eventually("there is a prompt") { (try? String(contentsOfFile: out, encoding: .utf8)) == "Name: " }
        try cue()
        _ = try said()
        #expect(ProgramStart.wait(for: script) == 8)
        #expect(
            try String(contentsOfFile: out, encoding: .utf8) == "Name: x********y\n" + Self.secret.dropLast())
        #expect(try String(contentsOfFile: workplace.path + "/err", encoding: .utf8) == "********\n")
    }

    @Test func muchOutputComesWhole() throws {
        let outcome = try shell(
            """
            keychain run --mask --env A=keychain://db/alice -- sh -c \
                'i=0; while [ $i -lt 20000 ]; do echo "$i $A"; i=$((i+1)); done'
            """)
        #expect(outcome.status == 0)
        #expect(outcome.text == (0..<20_000).map { "\($0) ********\n" }.joined())
    }

    /// What a program leaves running, and a reader that goes away, keep nobody waiting.
    @Test func masksEndWithTheProgram() throws {
        let outcome = try shell(
            """
            mkfifo never
            keychain run --mask --env A=keychain://db/alice -- sh -c 'cat < never & echo $! > process; echo "$A"; exit 2'
            echo $?; kill "$(cat process)"
            keychain run --mask --env A=keychain://db/alice -- sh -c 'yes; echo $? > ended' | head -n 1
            cat ended
            """)
        #expect(outcome.text == "********\n2\ny\n\(128 + SIGPIPE)\n", "\(outcome.errors)")
    }

    /// A line can end as on Windows, and the file can begin with a mark of the byte order: neither is in a value.
    @Test func endsOfLinesAreNotInValues() throws {
        let outcome = try shell(
            #"""
            printf '\357\273\277A=one\r\n# note\r\n\r\n \t\r\nB=keychain://db/alice\r\nC=\r\nD=in\rside\r\r\nE=last\r' > app.env
            keychain run --env-file app.env -- sh -c 'printf "%s|" "$A" "$B" "$C" "$D" "$E" | od -An -c | tr -d " \n"'
            printf '\357\273\277p={{ keychain://db/alice }}\r\n' > in.conf
            keychain run --template A=in.conf -- sh -c 'od -An -c "$A" | tr -d " \n"'
            """#)
        #expect(
            outcome.text
                == #"one|\#(Self.secret)||in\rside\r|last|357273277p=\#(Self.secret)\r\n"#, "\(outcome.errors)")
    }

    /// A pipe that the shell made is read to its end.
    @Test func aPipeOfTheShellIsRead() throws {
        let outcome = try workplace.run(
            [
                "/bin/bash", "-c",
                "keychain run --env-file <(sleep 0.1; echo A=keychain://db/alice) -- printenv A; printf B=c | keychain run --env-file /dev/stdin -- printenv B",
            ])
        #expect(outcome.text == "\(Self.secret)\nc\n", "\(outcome.errors)")
    }

    @Test func aValueTooLongForAVariableIsRefused() throws {
        let secret = Data(repeating: 0x61, count: 131_072)
        _ = try workplace.run(["keychain", "set", "key", "long"], input: secret)
        let refused = try workplace.run(["keychain", "run", "--env", "A=keychain://key/long", "--", "true"])
        #expect(refused.status == 1)
        #expect(
            refused.errors
                == "keychain: A: the value is longer than the 128 KiB that a variable can hold: give it in a file, with --file\n"
        )
        let outcome = try shell("keychain run --file A=keychain://key/long -- sh -c 'cat \"$A\"'")
        #expect(outcome.output == secret)
        #expect(try left() == [])
    }

    /// Arguments need not be text.
    @Test func argumentsComeAsTheyAre() throws {
        let outcome = try shell(
            "x=$(printf 'a\\377b'); keychain run --env A=keychain://db/alice -- printf '%s|' \"$x\" '' 'c d'")
        #expect(outcome.output == Data([0x61, 0xFF, 0x62] + Array("||c d|".utf8)))
    }
}
