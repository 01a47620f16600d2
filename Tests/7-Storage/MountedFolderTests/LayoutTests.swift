import Foundation
import TestSupport
import Testing

/// The declarations in CFuse3 against the headers of libfuse.
@Suite struct FuseLayoutTests {
    private let layout = DeclaredLayout(
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Layout"),
        module: "7-Storage/CFuse3",
        flags: ["-I/usr/include/fuse3", "-D_FILE_OFFSET_BITS=64"])

    @Test func structuresAreLaidOutAsTheLibraryHasThem() throws {
        let (here, there) = (try layout.lines("HERE"), try layout.lines("LIBRARY"))
        #expect(here.count > 60)
        #expect(here.count == there.count)
        for (here, there) in zip(here, there) { #expect(here == there) }
    }

    @Test func functionsTakeWhatTheLibraryTakes() throws {
        #expect(try layout.functionErrors() == "")
    }
}
