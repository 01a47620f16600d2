import Access
import Frames

/// Whom the server takes the client for, and what it may do.
package struct CallerDescription: WireValue, Equatable {
    package var identifier: String
    /// The access groups it holds, in order.
    package var accessGroups: [String]
    /// Those of them in which it may list.
    package var listableGroups: [String]
    package var rights: CallerRights

    package init(identifier: String, accessGroups: [String], listableGroups: [String], rights: CallerRights) {
        self.identifier = identifier
        self.accessGroups = accessGroups
        self.listableGroups = listableGroups
        self.rights = rights
    }

    /// What `client` may do with a vault.
    init(_ client: Client) {
        self.init(
            identifier: client.identifier, accessGroups: client.accessGroups,
            listableGroups: client.listableGroups ?? client.accessGroups, rights: client.rights)
    }

    package var client: Client { Client(identifier: identifier, accessGroups: accessGroups) }

    package func encode(to buffer: FrameBuffer) {
        buffer.write(identifier)
        buffer.write(list: accessGroups)
        buffer.write(list: listableGroups)
        buffer.write(rights.rawValue)
    }

    package init(from reader: inout FrameReader) throws(FrameError) {
        identifier = try reader.read()
        accessGroups = try reader.list(limit: WireLimits.accessGroups)
        listableGroups = try reader.list(limit: WireLimits.accessGroups)
        rights = CallerRights(rawValue: try reader.read())
    }
}
