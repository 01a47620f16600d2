import Access
import Bytes
import FoundationEssentials
import KeychainModel

extension AuditRecord {
    /// Returns the record as JSON without its closing brace, with the members in the order of the format.
    func encoded() -> Data {
        var text = #"{"seq":\#(sequence),"time":\#(time),"event":"\#(event)""#
        func add(_ name: CodingKeys, _ value: String?) {
            if let value { text += #","\#(name.rawValue)":\#(Self.quoted(value))"# }
        }
        func add(_ name: CodingKeys, number: (some BinaryInteger)?) {
            if let number { text += #","\#(name.rawValue)":\#(number)"# }
        }
        add(.client, client)
        add(.user, number: user)
        add(.process, number: process)
        add(.operation, operation)
        add(.itemClass, itemClass)
        add(.group, group)
        if let itemDigests {
            let list = itemDigests.map(Self.quoted).joined(separator: ",")
            text += #","\#(CodingKeys.itemDigests.rawValue)":[\#(list)]"#
        }
        add(.items, number: items)
        add(.failure, failure)
        if let request { text += #","\#(CodingKeys.request.rawValue)":\#(Self.object(request))"# }
        add(.count, number: count)
        add(.until, number: until)
        add(.missed, number: missed)
        add(.lost, number: lost)
        add(.torn, number: torn)
        add(.key, key)
        add(.previous, previous)
        add(.other, number: other)
        return Data(text.utf8)
    }

    private static func object(_ request: BrokeredRequest) -> String {
        let secrets = request.secrets.map(quoted).joined(separator: ",")
        var text = #"{"outcome":"\#(request.outcome.rawValue)","secrets":[\#(secrets)],"host":\#(quoted(request.host))"#
        text += #","port":\#(request.port),"sent":\#(request.sent),"received":\#(request.received)"#
        if let status = request.status { text += #","status":\#(status)"# }
        let texts = [
            ("program", request.program), ("method", request.method), ("path", request.path),
            ("reason", request.reason),
        ]
        for (name, value) in texts {
            if let value { text += #","\#(name)":\#(quoted(value))"# }
        }
        return text + "}"
    }

    /// Returns a JSON string in ASCII. Escapes all other characters, so that a line shows its contents.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22: result += "\\\""
            case 0x5C: result += "\\\\"
            case 0x20...0x7E: result.unicodeScalars.append(Unicode.Scalar(UInt8(truncatingIfNeeded: unit)))
            default: result += "\\u" + unit.bigEndianBytes.hexadecimal()
            }
        }
        return result + "\""
    }

    init(_ event: AuditEvent, sequence: UInt64, time: Int64, seal: any AuditSeal) {
        self.init(sequence: sequence, time: time, event: event.kind.rawValue)
        client = Self.shortened(event.client)
        user = event.process?.user
        process = event.process?.number
        operation = event.operation?.kind.rawValue
        itemClass = event.operation?.itemClass?.rawValue
        // A digest, because someone with only the folder must not learn the name, as with the items.
        group = event.operation?.accessGroup.map { group in
            seal.tag(of: Data("group".utf8) + Data(group.utf8)).prefix(8).hexadecimal()
        }
        if let digests = event.operation?.itemDigests, !digests.isEmpty { itemDigests = digests.map(Self.digest) }
        items = event.items
        failure = event.failure?.rawValue
        request = event.request
    }

    /// Returns the digest of an item as a record has it: 16 hexadecimal digits.
    package static func digest(_ item: UInt64) -> String { item.bigEndianBytes.hexadecimal() }

    /// A client chooses its name, and must not be able to fill the disk with it.
    private static func shortened(_ name: String) -> String {
        name.utf16.count <= longestName ? name : String(name.unicodeScalars.prefix(longestName / 2)) + "…"
    }

    private static let longestName = 256
}
