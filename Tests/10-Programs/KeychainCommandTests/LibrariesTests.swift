import Foundation
import TestSupport
import Testing

/// What the programs are linked with.
@Suite struct LibrariesTests {
    /// Foundation would bring ICU's data into a program, 34 MB, and a third more relocations into each start.
    @Test func needsNoFoundation() throws {
        let program = URL(filePath: Worker.executable).deletingLastPathComponent().appending(path: "keychain").path
        // The loader prints what it would load (ld.so(8)).
        let run = try ProgramStart(["env", "LD_TRACE_LOADED_OBJECTS=1", program]).run()
        #expect(run.status == 0 && run.text.contains("libswiftCore.so"), "\(run.text)\(run.errors)")
        for library in ["libFoundation.so", "libFoundationInternationalization.so", "lib_FoundationICU.so"] {
            #expect(!run.text.contains(library), "an object refers to \(library)")
        }
    }
}
