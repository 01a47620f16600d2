import Bytes
import CLibrary
import FoundationEssentials
import VaultInterface

/// The folder of one member: the line of its segments, and whatever else lies beside them.
///
/// Two machines that write as the same member, such as a vault and its copy, write over each other's files. A program
/// that synchronizes then keeps one of the two files under another name, or keeps only the file that was copied last.
/// Each such file is read by itself, so that nothing is lost; the line is not read on where it is broken.
struct MemberFiles {
    let folder: SharedFolder
    let circle: Data
    let member: UInt32
    /// The segment of the line that is being read.
    private(set) var line: SegmentScan
    /// Behind the last group of the line that held more than heads.
    private(set) var told: SegmentFile.Place
    /// What is wrong with the line, as of the last look.
    private(set) var fault: SegmentFile.Fault?
    /// Files beside the line, by name.
    private(set) var copies: [String] = []
    private var scans: [String: SegmentScan] = [:]
    /// What was found out about files that did not change since.
    private var seen: [String: (stamp: FileStamp, fault: SegmentFile.Fault?)] = [:]
    /// Chain values that were looked up for comparison.
    private var checked: [SegmentFile.Place] = []
    private var listed: FileStamp?
    private var isMissing = false
    private var segments: [String] = []

    /// How many files are read that are on no line.
    private static let mostCopies = 1_024

    /// - Parameter known: How far the files were read; nil to begin.
    init(_ folder: SharedFolder, _ circle: Data, _ member: UInt32, after known: FolderPlaces.Member?) {
        (self.folder, self.circle, self.member) = (folder, circle, member)
        let start = SegmentFile.head(circle: circle, member: member, segment: 0, before: Data(count: 32)).place
        line =
            known.map { SegmentScan(circle, member, after: $0.place) }
            ?? SegmentScan(circle, member, 0, before: Data(count: 32))
        told = known?.told ?? start
    }

    struct Found {
        var objects: [CircleObject]
        /// Where the line goes on; nil for what lies beside it.
        var place: SegmentFile.Place?
    }

    /// Where reading goes on, as the vault keeps it.
    var places: FolderPlaces.Member? { line.place.map { FolderPlaces.Member(place: $0, told: told) } }

    /// Reads what is new.
    mutating func next() -> Found? {
        do throws(SegmentFile.Fault) {
            fault = nil
            if let group = try nextOfLine() {
                if group.objects.contains(where: { $0.kind != .head }) { told = group.place }
                return Found(objects: group.objects, place: group.place)
            }
        } catch {
            fault = error
        }
        list()
        var names = copies
        if fault != nil {
            // What is there now may go on from another state.
            names += segments
        }
        for name in names.prefix(Self.mostCopies) {
            if let group = nextOfCopy(name) { return Found(objects: group.objects) }
        }
        return nil
    }

    /// The chain value at an earlier place; zeros if no frame ends there, nil if the file is not there.
    mutating func chain(at place: SegmentFile.Place) -> Data? {
        if let known = checked.first(where: { $0.segment == place.segment && $0.offset == place.offset }) {
            return known.chain
        }
        guard let source = folder.source(SegmentFile.name(place.segment)), source.size <= SegmentFile.mostBytes,
            let head = source.bytes(at: 0, count: SegmentFile.headSize)
        else { return nil }
        var (offset, chain) = (SegmentFile.headSize, SegmentFile.chain(Data(), head))
        while offset < place.offset, let frame = try? SegmentFile.frame(in: source, at: offset) {
            (offset, chain) = (offset + frame.count, SegmentFile.chain(chain, frame))
        }
        let found = SegmentFile.Place(
            segment: place.segment, offset: place.offset, chain: offset == place.offset ? chain : Data(count: 32))
        checked = checked.suffix(63) + [found]
        return found.chain
    }

    /// Notes what this process wrote itself.
    mutating func advance(to place: SegmentFile.Place, isOnlyHeads: Bool) {
        if place.segment == line.segment {
            line.advance(to: place)
        } else {
            line = SegmentScan(circle, member, after: place)
        }
        seen["line"] = nil
        if !isOnlyHeads { told = place }
    }

    private mutating func nextOfLine() throws(SegmentFile.Fault) -> SegmentFile.Group? {
        var (scan, key) = (line, "line")
        defer { if scan.segment == line.segment { line = scan } }
        if let group = try read(SegmentFile.name(scan.segment), &scan, as: key, isKnown: !scan.isAtStart) {
            return group
        }
        // Nothing is written to a segment that is full, and only then to the next.
        guard let place = scan.place, place.offset >= SegmentFile.fullSize else { return nil }
        let name = SegmentFile.name(scan.segment + 1)
        key = "next " + name
        var following = scans[key] ?? SegmentScan(circle, member, scan.segment + 1, before: place.chain)
        guard let group = try read(name, &following, as: key, isKnown: false) else {
            scans[key] = following
            return nil
        }
        (scans[key], seen[key], seen["line"]) = (nil, nil, nil)
        line = following
        return group
    }

    private mutating func nextOfCopy(_ name: String) -> SegmentFile.Group? {
        guard let digits = [UInt8](lowercaseHexadecimal: name.utf8.prefix(8)) else { return nil }
        var scan = scans[name] ?? SegmentScan(circle, member, UInt32(bigEndianBytes: digits), before: nil)
        defer { scans[name] = scan }
        // Everybody who can write in the folder can put anything there.
        while let group = try? read(name, &scan, as: name, isKnown: false) {
            if !group.objects.isEmpty { return group }
        }
        return nil
    }

    /// - Parameters:
    ///   - key: Under which it is remembered that there was nothing new.
    ///   - isKnown: Whether something of the file was read before.
    private mutating func read(
        _ name: String, _ scan: inout SegmentScan, as key: String, isKnown: Bool
    ) throws(SegmentFile.Fault) -> SegmentFile.Group? {
        guard let stamp = folder.stamp(name) ?? (isKnown ? awaited(name) : nil) else {
            if isKnown { throw .changed }
            return nil
        }
        if isKnown { isMissing = false }
        if let seen = seen[key], seen.stamp == stamp, stamp.isSettled {
            if let fault = seen.fault { throw fault }
            return nil
        }
        guard stamp.size <= SegmentFile.mostBytes else { throw .malformed }
        guard let source = folder.source(name) else { return nil }
        do throws(SegmentFile.Fault) {
            let group = try scan.next(in: source)
            seen[key] = group == nil ? (stamp, nil) : nil
            return group
        } catch {
            seen[key] = (stamp, error)
            throw error
        }
    }

    /// Waits for a file that is away for a moment: some programs, such as Syncthing and git, remove a file before they
    /// put the next one in its place.
    private mutating func awaited(_ name: String) -> FileStamp? {
        guard !isMissing, folder.exists else { return nil }
        for _ in 0..<20 {
            usleep(25_000)
            if let stamp = folder.stamp(name) { return stamp }
        }
        // Waited for once.
        isMissing = true
        return nil
    }

    /// Looks for files beside the line, if names changed.
    private mutating func list() {
        guard let stamp = folder.stamp, stamp != listed || !stamp.isSettled else { return }
        listed = stamp
        let names = folder.names().filter { name in
            name.utf8.count >= 8 && name.utf8.prefix(8).allSatisfy { Self.isDigit($0) }
        }
        segments = names.filter { $0.utf8.count == 12 && $0.hasSuffix(".seg") }
        copies = names.filter { $0.utf8.count > 12 && $0.contains(".seg") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
