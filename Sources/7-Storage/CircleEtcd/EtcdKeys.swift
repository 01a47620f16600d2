#if HTTPClientSupport
import Bytes
import Crypto
import Foundation
import VaultInterface

/// Where the objects of a circle are in etcd. Documentation/Specify/Formats/Circle.md specifies it.
///
/// Each object has a key of its own, which is written once. So two members that write at once do not overwrite each
/// other. For an entry of the log, etcd accepts only the first with a number. A new head replaces the one before.
struct EtcdKeys {
    /// What all circles of a cluster have in common, so that a role of etcd can be given it.
    static let root = "/swift-keychain/circle/"

    /// The 16 bytes that name the circle.
    let circle: Data

    private var prefix: String { Self.root + circle.hexadecimal() + "/" }

    /// The key of an object. Returns nil if it does not have the form of its kind.
    func key(of object: CircleObject) -> Data? {
        let name = object.key.hexadecimal()
        let text: String
        switch object.kind {
        case .proposal: return nil
        case .record:
            guard object.key.count == 32, let version = Self.version(of: object.value) else { return nil }
            text = "i/\(name.prefix(32))/\(name.dropFirst(32))/\(version.hexadecimal())"
        case .entry: text = "c1/\(name)"
        case .delivery:
            text = name.hasPrefix("00000000") ? "c2/\(name.dropFirst(8))" : "b/\(name.prefix(8))/\(name.dropFirst(8))"
        case .viewEntry:
            // Two members may make an entry with one number at once.
            let digest = Data(SHA256.hash(data: object.value)).prefix(8).hexadecimal()
            text = "c4/\(name.prefix(32))/\(name.dropFirst(32))/\(digest)"
        case .certificate: text = "c3/\(name)"
        case .request: text = "c5/\(name)"
        case .head: text = "c6/\(name)"
        }
        return Data((prefix + text).utf8)
    }

    /// The object at a key. Returns nil if the key is not one of this circle.
    func object(_ key: Data, _ value: Data) -> CircleObject? {
        guard value.count <= CircleObject.largest else { return nil }
        let text = String(decoding: key, as: UTF8.self)
        guard text.hasPrefix(prefix) else { return nil }
        let parts = text.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard let kind = parts.first else { return nil }
        func object(_ kind: CircleObject.Kind, _ sizes: [Int], after begin: Data = Data()) -> CircleObject? {
            guard parts.count > sizes.count else { return nil }
            var name = begin
            for (part, size) in zip(parts.dropFirst(), sizes) {
                guard let bytes = [UInt8](lowercaseHexadecimal: part.utf8), bytes.count == size else { return nil }
                name += bytes
            }
            return CircleObject(kind, key: name, value: value)
        }
        switch kind {
        case "i": return object(.record, [16, 16])
        case "b": return object(.delivery, [4, 16])
        case "c1": return object(.entry, [4])
        case "c2": return object(.delivery, [16], after: Data(count: 4))
        case "c3": return object(.certificate, [6])
        case "c4": return object(.viewEntry, [16, 8])
        case "c5": return object(.request, [16])
        case "c6": return object(.head, [4])
        default: return nil
        }
    }

    /// The version that a record says it is: 12 bytes of its header.
    static func version(of record: Data) -> Data? {
        record.count >= 22 ? Data(record.dropFirst(10).prefix(12)) : nil
    }

    /// The generation of keys under which a record says it is sealed.
    static func generation(of record: Data) -> UInt32? {
        record.count >= 10 ? UInt32(bigEndianBytes: record.dropFirst(6).prefix(4)) : nil
    }

    /// The member that a record says has sealed it.
    static func sealer(of record: Data) -> UInt32? {
        record.count >= 26 ? UInt32(bigEndianBytes: record.dropFirst(22).prefix(4)) : nil
    }

    /// The keys of all versions of the item whose record has this key.
    static func versions(ofItemAt key: Data) -> Area? {
        guard let end = key.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return Area(below: Data(key[...end]))
    }

    /// The keys of all versions of the item with this view and name.
    func versions(of item: Data) -> Area {
        let name = item.hexadecimal()
        return area("i/\(name.prefix(32))/\(name.dropFirst(32))/")
    }

    /// The entries of a view.
    func entries(ofView view: Data) -> Area { area("c4/\(view.hexadecimal())/") }

    /// The entries of a view that say of keys of a later generation.
    func entries(ofView view: Data, after generation: UInt32) -> Area {
        let all = entries(ofView: view)
        return Area(all.begin + Data(Data((generation &+ 1).bigEndianBytes).hexadecimal().utf8), to: all.end)
    }

    enum Removal: Equatable {
        /// Nobody misses it: etcd ends requests, and the next head takes the place of the last.
        case usual
        /// A version of an item, which a member removes if there are newer ones.
        case version(ofMember: UInt32)
        /// No member removes it.
        case loss
    }

    /// What it means that a key is removed.
    func removal(of key: Data) -> Removal {
        let text = String(decoding: key, as: UTF8.self).dropFirst(prefix.count)
        if text.hasPrefix("c5/") || text.hasPrefix("c6/") { return .usual }
        guard text.hasPrefix("i/") else { return .loss }
        return .version(ofMember: UInt32(text.suffix(8), radix: 16) ?? 0)
    }

    /// A part of the keys that a member reads as one.
    struct Area: Hashable {
        /// Its first possible key, and the first key behind it.
        var begin: Data
        var end: Data

        init(_ begin: Data, to end: Data) { (self.begin, self.end) = (begin, end) }

        func contains(_ key: Data) -> Bool {
            !key.lexicographicallyPrecedes(begin) && key.lexicographicallyPrecedes(end)
        }

        /// What is left of it without some keys.
        func without(_ keys: [Data]) -> [Area] {
            var (parts, rest): ([Area], Area) = ([], self)
            for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) where contains(key) {
                if key != rest.begin { parts.append(Area(rest.begin, to: key)) }
                rest.begin = key + [0]
            }
            return parts + [rest]
        }

        /// - Parameter prefix: What its keys begin with; it ends with a slash, and the byte after that is a zero.
        init(below prefix: Data) { self.init(prefix, to: prefix.dropLast() + [UInt8(ascii: "0")]) }
    }

    /// The log, and the keys for the recovery key.
    var beginning: Area { Area(key("c1/"), to: key("c3/")) }

    /// What the members say of how far they have got.
    var heads: Area { area("c6/") }

    /// In a larger circle, members do not watch each other's heads, because the messages grow with the square of the
    /// members.
    static let mostWatched: UInt32 = 64

    /// What all members read: the log, the keys for the recovery key, certificates, chains and requests; and in a small
    /// circle the heads. The log comes first, because the rest is checked by it.
    ///
    /// - Parameter lastMember: The highest number of a member.
    func common(lastMember: UInt32) -> Area {
        Area(key("c1/"), to: key(lastMember <= Self.mostWatched ? "c7/" : "c6/"))
    }

    /// What a member reads: what all read, its own mailbox, and the items of its views.
    func areas(ofMember member: UInt32, views: [Data], lastMember: UInt32) -> [Area] {
        // Each is a watch, and the gateway does not bear many (see `EtcdCarrier.watch`).
        [common(lastMember: lastMember), area("b/\(Data(member.bigEndianBytes).hexadecimal())/")]
            + views.map { area("i/\($0.hexadecimal())/") }
    }

    private func key(_ text: String) -> Data { Data((prefix + text).utf8) }

    private func area(_ text: String) -> Area { Area(below: key(text)) }

    /// The circle to which a key belongs; nil for another key.
    static func circle(in key: Data) -> Data? {
        let text = String(decoding: key, as: UTF8.self)
        guard text.hasPrefix(root) else { return nil }
        let digits = text.dropFirst(root.count).prefix(32)
        guard let circle = [UInt8](lowercaseHexadecimal: digits.utf8), circle.count == 16 else { return nil }
        return Data(circle)
    }
}
#endif
