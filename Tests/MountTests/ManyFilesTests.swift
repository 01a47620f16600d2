import TestSupport
import Testing

/// More files than the process that serves a mount may have descriptors.
@Suite struct ManyFilesTests {
    @Test func moreThanDescriptors() throws {
        let mount = try MountUnderTest(nil)
        let program = MountUnderTest.program("keychain")
        try mount.shell("ulimit -n 200; '\(program)' mount '\(mount.below)' '\(mount.point)'", in: mount.folder.path)
        try mount.shell(
            """
            exec 3> open
            for number in $(seq 1000); do echo $number > $number; done
            test "$(ls -l | grep -c ^-)" = 1001
            test "$(cat $(seq 1000) | sum)" = "$(seq 1000 | sum)"
            find . -type f -size +0 | wc -l | grep -qx 1000
            echo open >&3
            exec 3>&-
            test "$(cat open)" = open
            rm -- $(seq 1000)
            test "$(ls)" = open
            """)
        try mount.keychain(["unmount", mount.point])
    }
}
