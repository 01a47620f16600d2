import Foundation
import TestSupport
import Testing

/// A disk that fails after the new keys are in force.
@Suite struct FlushTests {
    private let workplace: Workplace

    init() throws {
        workplace = try Workplace()
        try FolderContents.write(Data(Self.shim.utf8), to: workplace.path + "/shim.c")
        let library = workplace.path + "/shim.so"
        let compiled = try ProgramStart(
            ["clang", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, workplace.path + "/shim.c"]
        ).run()
        try #require(compiled.status == 0, "\(compiled.errors)")
    }

    /// Lets the flush of the folder fail that follows the replacement of a keybag, as a broken disk does.
    private static let shim = """
        #define _GNU_SOURCE
        #include <errno.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static int armed;
        int rename(const char *from, const char *to) {
            int result = syscall(SYS_renameat2, -100, from, -100, to, 0);
            const char *name = strrchr(to, '/');
            if (result == 0 && name && strcmp(name, "/keybag") == 0) armed = 1;
            return result;
        }
        int fsync(int file) {
            struct stat info;
            if (armed && fstat(file, &info) == 0 && S_ISDIR(info.st_mode)) {
                armed = 0;
                errno = EIO;
                return -1;
            }
            return syscall(SYS_fsync, file);
        }

        """

    private func shell(_ commands: String) throws -> ProgramOutcome {
        try workplace.shell(
            """
            broken() { LD_PRELOAD="$HOME/shim.so" keychain "$@"; echo "status $?"; }
            printf one > one; printf two > two; cheap='--memory 8 --passes 1'
            printf secret | KEYCHAIN_AUDIT=1 keychain set mail alice
            \(commands)
            """)
    }

    @Test func aPasscodeThatIsInForceIsToldAsThat() throws {
        let outcome = try shell(
            """
            broken passcode set $cheap --new-passcode-fd 3 3<one
            keychain get mail alice --passcode-fd 3 3<one; echo
            broken passcode change --passcode-fd 3 --new-passcode-fd 4 3<one 4<two
            keychain get mail alice --passcode-fd 3 3<one; echo "status $?"
            keychain get mail alice --passcode-fd 3 3<two; echo
            broken passcode remove --passcode-fd 3 3<two
            keychain get mail alice; echo
            keychain audit | cut -f 3 | grep passcode
            """)
        #expect(
            Transcript.lines(outcome.text) == [
                "status 1", "secret", "status 1", "status 51", "secret", "status 1", "secret", "passcode-set",
                "passcode-changed", "passcode-removed",
            ], "\(outcome.text)\(outcome.errors)")
        let errors = outcome.errors.split(separator: "\n").filter { $0.contains("the disk may not have it") }
        try #require(errors.count == 3, "\(outcome.errors)")
        #expect(errors[0].contains("the passcode is set, but") && errors[0].contains("Input/output error"))
        #expect(errors[1].contains("the new passcode is in force, but") && errors[1].contains("keep both"))
        #expect(errors[2].contains("the passcode is removed, but"))
    }

    /// The former store stays, because the former keybag may be there again after a crash.
    @Test func keysThatAreInForceAreToldAsThat() throws {
        let outcome = try shell(
            """
            cp -a home before
            broken rekey
            ls home/items-*.db | wc -l
            cp -a home crashed; cp before/keybag crashed/keybag
            KEYCHAIN_HOME="$HOME/crashed" keychain get mail alice; echo
            keychain get mail alice; echo
            ls home/items-*.db | wc -l
            keychain status --verify | grep checked
            """)
        #expect(
            Transcript.lines(outcome.text) == [
                "status 1", "2", "secret", "secret", "1", "checked   1 valid, 0 locked, 0 damaged",
            ], "\(outcome.text)\(outcome.errors)")
        #expect(outcome.errors.contains("the new class keys are in force, but the disk may not have it"))
    }

    @Test func anEraseThatIsDoneIsToldAsThat() throws {
        let outcome = try shell("broken erase --yes; keychain list | wc -l")
        #expect(Transcript.lines(outcome.text) == ["status 1", "0"], "\(outcome.text)\(outcome.errors)")
        #expect(outcome.errors.contains("the vault is erased, but the disk may not have it"))
    }
}
