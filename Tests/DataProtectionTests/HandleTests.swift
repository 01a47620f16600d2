import DataProtection
import Foundation
import KeychainTesting
import TestSupport
import Testing

@Suite struct HandleTests {
    @Test func basic() throws {
        let folder = try TemporaryFolder()
        let world = try TestKeychain()
        try world.run {
            let url = URL(filePath: folder.path(of: "f"))
            let handle = try ProtectedFileHandle(creating: url, protection: .complete)
            try handle.write(contentsOf: Data("hello".utf8))
            try handle.seek(toOffset: 0)
            #expect(try handle.read(upToCount: 100) == Data("hello".utf8))
            #expect(try handle.read(upToCount: 100) == nil)
            world.lock()
            #expect(throws: ProtectedFileError.self) { try handle.read(upToCount: 100) }
            world.unlock()
            #expect(throws: ProtectedFileError.self) { try handle.read(upToCount: 100) }
            #expect(try ProtectedFile(url).data() == Data("hello".utf8))
        }
    }
}
