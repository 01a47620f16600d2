import Frames
import KeychainModel

/// An operation on the items that a query finds.
package protocol QueryOperation: VaultOperation {
    var query: ItemQuery { get }
}

extension QueryOperation {
    package var authentication: AuthenticationOptions? { query.authentication }
    package func check() throws(VaultError) { try RequestCheck.check(query) }
}

/// An operation that takes a query and nothing else.
package protocol BareQueryOperation: QueryOperation {
    init(_ query: ItemQuery)
}

extension BareQueryOperation {
    package func encode(to buffer: FrameBuffer) { buffer.write(query) }
    package init(from reader: inout FrameReader) throws(FrameError) { self.init(try reader.read()) }
}
