import Frames
import KeychainModel

/// An operation that takes a new item, and replies the item as it is stored.
package protocol NewItemOperation: UnaryOperation where Reply == StoredItem {
    var item: NewItem { get }

    init(_ item: NewItem)
}

extension NewItemOperation {
    package var authentication: AuthenticationOptions? { item.authentication }
    package func check() throws(VaultError) { try RequestCheck.check(item) }

    package func encode(to buffer: FrameBuffer) { buffer.write(item) }
    package init(from reader: inout FrameReader) throws(FrameError) { self.init(try reader.read()) }

    /// The reply without the value, if the caller gave one: it need not be sent back.
    func reply(_ stored: StoredItem) -> StoredItem {
        var reply = stored
        if item.value != nil { reply.value = nil }
        return reply
    }
}
