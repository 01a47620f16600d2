import DatabasePages
import Foundation
import KeychainModel
import TestSupport

/// A page index in a folder of its own.
struct IndexUnderTest {
    let folder: TemporaryFolder
    let index: PageIndex

    var path: String { index.path }

    init() throws {
        folder = try TemporaryFolder()
        let path = PageIndex.path(ofDatabase: folder.path(of: "db"), .ofTests)
        index = try PageIndex.create(path, database: .ofTests, key: .ofTests())
    }

    /// As another connection has it.
    func open(writing: Bool = true) throws -> PageIndex {
        try PageIndex.open(path, database: .ofTests, key: .ofTests(), writing: writing)
    }

    var bytes: Data {
        get throws { try Data(contentsOf: URL(filePath: path)) }
    }

    /// In place, as somebody who changes the file has it.
    func put(_ bytes: Data) throws {
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: bytes)
        try file.close()
    }
}

extension PageIndex {
    /// Sets the versions of pages, all to the same.
    func set(_ pages: some Sequence<UInt32>, to version: UInt64) throws {
        for page in pages { try set(PageVersion(rawValue: version), of: page) }
    }
}
