import Bytes
import CLibrary
import FoundationEssentials
import SystemLibraries

/// An element of an XML document, which libexpat reads.
///
/// A document with a DTD is refused: no format here has one, and entities of its own are the way to make a small
/// document large.
final class XMLNode {
    let name: String
    let attributes: [String: String]
    fileprivate(set) var children: [XMLNode] = []
    fileprivate var bytes: [UInt8] = []
    /// What stands here instead of the text, once somebody decrypted it.
    var decrypted: Data?

    fileprivate init(_ name: String, _ attributes: [String: String]) {
        (self.name, self.attributes) = (name, attributes)
    }

    var text: String { decrypted.map { String(decoding: $0, as: UTF8.self) } ?? String(decoding: bytes, as: UTF8.self) }

    /// The bytes that the text has in Base64, or those that were decrypted.
    var data: Data? { decrypted ?? Data(base64Encoded: Data(bytes), options: .ignoreUnknownCharacters) }

    /// The first child with a name.
    subscript(name: String) -> XMLNode? { children.first { $0.name == name } }

    func all(_ name: String) -> [XMLNode] { children.filter { $0.name == name } }

    /// - Returns: Nil if the bytes are no XML, or have a DTD, more levels than `depth`, or more than `most` elements.
    /// - Throws: ``ExchangeError/missing(_:)`` without the library.
    static func root(of document: Data, depth: Int = 128, most: Int = 4_000_000) throws(ExchangeError) -> XMLNode? {
        let expat: Expat
        do {
            expat = try Expat()
        } catch {
            throw .missing("libexpat")
        }
        let tree = XMLTree(depth: depth, room: most)
        return expat.parse(document, into: tree) ? tree.root : nil
    }
}

/// The tree that grows while a document is read.
private final class XMLTree {
    private(set) var root: XMLNode?
    private var open: [XMLNode] = []
    private let depth: Int
    private var room: Int
    private(set) var isRefused = false

    init(depth: Int, room: Int) { (self.depth, self.room) = (depth, room) }

    func refuse() { isRefused = true }

    func start(_ name: String, _ attributes: [String: String]) {
        guard !isRefused, open.count < depth, room > 0 else { return refuse() }
        room -= 1
        let node = XMLNode(name, attributes)
        if let parent = open.last { parent.children.append(node) } else { root = node }
        open.append(node)
    }

    func end() { _ = open.popLast() }

    func add(_ text: UnsafeBufferPointer<CChar>) {
        // Between the elements of an element there are spaces alone.
        guard !isRefused, let node = open.last, node.children.isEmpty else { return }
        node.bytes.append(contentsOf: UnsafeRawBufferPointer(text))
    }
}

/// libexpat (expat.h), whose interface has been the same since version 2.0.
private struct Expat {
    private typealias Text = UnsafePointer<CChar>
    private typealias Start = @convention(c) (UnsafeMutableRawPointer?, Text?, UnsafePointer<Text?>?) -> Void
    private typealias End = @convention(c) (UnsafeMutableRawPointer?, Text?) -> Void
    private typealias Characters = @convention(c) (UnsafeMutableRawPointer?, Text?, Int32) -> Void
    private typealias Doctype = @convention(c) (UnsafeMutableRawPointer?, Text?, Text?, Text?, Int32) -> Void

    private let create: @convention(c) (Text?) -> OpaquePointer?
    private let free: @convention(c) (OpaquePointer?) -> Void
    private let setUserData: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void
    private let setElements: @convention(c) (OpaquePointer?, Start?, End?) -> Void
    private let setCharacters: @convention(c) (OpaquePointer?, Characters?) -> Void
    private let setDoctype: @convention(c) (OpaquePointer?, Doctype?) -> Void
    private let step: @convention(c) (OpaquePointer?, UnsafeRawPointer?, Int32, Int32) -> Int32

    init() throws(SystemLibraryError) {
        let library = try SystemLibrary("libexpat.so.1", provides: "a file with XML")
        create = try library.function("XML_ParserCreate")
        free = try library.function("XML_ParserFree")
        setUserData = try library.function("XML_SetUserData")
        setElements = try library.function("XML_SetElementHandler")
        setCharacters = try library.function("XML_SetCharacterDataHandler")
        setDoctype = try library.function("XML_SetStartDoctypeDeclHandler")
        step = try library.function("XML_Parse")
    }

    private static func tree(_ data: UnsafeMutableRawPointer?) -> XMLTree? {
        data.map { Unmanaged<XMLTree>.fromOpaque($0).takeUnretainedValue() }
    }

    func parse(_ document: Data, into tree: XMLTree) -> Bool {
        guard let parser = create(nil) else { return false }
        defer { free(parser) }
        // The tree lives until the end of this function, and the parser calls nothing after it.
        setUserData(parser, Unmanaged.passUnretained(tree).toOpaque())
        setElements(
            parser,
            { data, name, attributes in
                guard let tree = Expat.tree(data), let name else { return }
                var found: [String: String] = [:]
                var place = attributes
                while let here = place, let key = here[0], let value = here[1] {
                    found[String(cString: key)] = String(cString: value)
                    place = here + 2
                }
                tree.start(String(cString: name), found)
            }, { data, _ in Expat.tree(data)?.end() })
        setCharacters(parser) { data, text, count in
            guard let tree = Expat.tree(data), let text, let count = Int(exactly: count), count >= 0 else { return }
            tree.add(UnsafeBufferPointer(start: text, count: count))
        }
        setDoctype(parser) { data, _, _, _, _ in Expat.tree(data)?.refuse() }
        return withExtendedLifetime(tree) {
            document.withUnsafeBytes { bytes in
                var position = 0
                repeat {
                    // Small steps, so that a document that is refused is not read to its end.
                    let count = min(bytes.count - position, 1 << 16)
                    let isLast: Int32 = position + count == bytes.count ? 1 : 0
                    let start = bytes.baseAddress.map { $0 + position }
                    guard step(parser, start, Int32(clamping: count), isLast) == 1, !tree.isRefused else {
                        return false
                    }
                    position += count
                } while position < bytes.count
                return true
            }
        }
    }
}
