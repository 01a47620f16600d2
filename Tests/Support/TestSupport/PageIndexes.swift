import Bytes
import DatabasePages

extension DatabaseID {
    package static var ofTests: DatabaseID { DatabaseID(repeatElement(1, count: byteCount)) ?? DatabaseID() }
}

extension SecretBytes {
    package static func ofTests() throws -> SecretBytes {
        try SecretBytes(count: 32) { $0.initializeMemory(as: UInt8.self, repeating: 7) }
    }
}

extension PageIndex {
    /// The valid state in the form of a script.
    package var state: PageScript.State {
        var state = PageScript.State()
        for page in 1..<pageCount + 1 { state.versions[page] = version(of: page)?.rawValue }
        state.pageCount = pageCount
        (state.logSalts, state.formerSalts, state.logFrames) = (walSalts, previousWALSalts, walFrames)
        return state
    }

    package func perform(_ change: PageScript.Change, durably: Bool = false) throws {
        switch change {
        case .pages(let pages, let count, let frames):
            for (page, version) in pages { try set(PageVersion(rawValue: version), of: page) }
            try flush(pageCount: count, walFrames: frames, durably: durably)
        case .beginLog(let salts, let former): try beginWAL(salts: salts, over: former)
        case .endLog: try endWAL()
        }
    }
}
