import Foundation
import TestSupport
import Testing

/// The declarations in CTSS2 against the headers of the TPM2 Software Stack.
@Suite struct LayoutTests {
    private let layout = DeclaredLayout(
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Layout"),
        module: "5-Engine/CTSS2")

    @Test func structuresAreLaidOutAsTheStackHasThem() throws {
        let (here, there) = (try layout.lines("HERE"), try layout.lines("STACK"))
        #expect(here.count > 60)
        #expect(here.count == there.count)
        for (here, there) in zip(here, there) { #expect(here == there) }
    }

    @Test func functionsTakeWhatTheStackTakes() throws {
        #expect(try layout.functionErrors() == "")
    }
}
