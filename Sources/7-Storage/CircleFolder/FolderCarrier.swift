import Access
import Bytes
import CLibrary
import FoundationEssentials
import VaultInterface

/// Carries what travels in a circle between a vault and a folder.
///
///     FOLDER/<circle>/<member>/<number>.seg    segments, written by that member only
///     FOLDER/<circle>/requests/<name>.req      requests of vaults that were invited
///
/// The circle is 32 hexadecimal digits, the member and the number of the segment are 8, and the name of a request 32.
///
/// For one thread at a time.
package final class FolderCarrier {
    /// What happened since the carrier began.
    package struct Report: Sendable, Equatable {
        /// What the vault is to the circle.
        package var standing = CircleStanding.none
        /// How many versions of items were written to the folder.
        package var written = 0
        /// How many items of the vault changed.
        package var changed = 0
        package var conflicts = 0
        /// How many objects wait in the vault.
        package var waiting = 0
        package var refused = 0
        /// Why objects were refused, and which files are not what they were; each once.
        package var alarms: [String] = []

        package init() {}
    }

    private let vault: any Vault
    private let client: Client
    private let root: SharedFolder
    private var own: SegmentFile.Place?
    private var ownCircle: Data?
    private var settled: Int64 = 0
    private var seenRequests: Set<String> = []
    private var lock: Int32 = -1
    private var hasRead = false
    package private(set) var report = Report()

    /// How the vault knows this carrier.
    static let name = "folder"
    private static let requests = "requests"
    /// How many folders of members are read.
    private static let mostMembers = 16_384

    /// - Parameters:
    ///   - client: Holds the right to synchronize.
    ///   - path: An existing folder.
    package init(_ vault: any Vault, as client: Client, folder path: String) {
        (self.vault, self.client, root) = (vault, client, SharedFolder(path: path))
    }

    deinit { if lock >= 0 { close(lock) } }

    // MARK: Both ways

    /// Writes what the vault has for the others, and takes in what is new in the folder, until there is neither.
    ///
    /// - Returns: Whether anything happened.
    /// - Throws: ``FolderCarrierError`` and ``VaultError``.
    @discardableResult
    package func synchronize() throws -> Bool {
        guard root.exists else { throw FolderCarrierError.missing(path: root.path) }
        var hasHappened = false
        if !hasRead {
            // A vault that was restored from a copy learns first what it wrote since, and uses no number twice.
            let state = try vault.perform(CollectCircleObjects(for: Self.name, limit: 0), as: client) {
                (_: CircleObject) throws(VaultError) in
            }
            if state.standing == .member { hasHappened = try takeIn(state) }
            hasRead = true
        }
        while true {
            let (objects, state) = try collect()
            report.standing = state.standing
            if state.standing == .none, objects.isEmpty {
                // The vault has left, and the others were told.
                if hasHappened { return true }
                throw FolderCarrierError.noCircle("the vault is in no circle; make one with `keychain circle create`")
            }
            let isWritten = !objects.isEmpty
            if isWritten { try write(objects, state) }
            let isTaken = try takeIn(state)
            hasHappened = hasHappened || isWritten || isTaken
            guard isWritten || isTaken || state.hasMore else { return hasHappened }
        }
    }

    private func collect() throws -> ([CircleObject], CollectedObjects) {
        var objects: [CircleObject] = []
        let reply = try vault.perform(
            CollectCircleObjects(for: Self.name, settled: settled), as: client
        ) { object throws(VaultError) in objects.append(object) }
        settled = 0
        return (objects, reply)
    }

    // MARK: Writing

    private func write(_ objects: [CircleObject], _ state: CollectedObjects) throws {
        guard let circle = state.circle else { return }
        let folder = root.folder(circle.hexadecimal())
        try folder.make()
        let requests = objects.filter { $0.kind == .request }
        for request in requests {
            let place = folder.folder(Self.requests)
            try place.make()
            try place.make(request.key.hexadecimal() + ".req", request.value)
        }
        let others = objects.filter { $0.kind != .request }
        if !others.isEmpty, state.member > 0 { try append(others, state.member, circle, folder) }
        report.written += objects.count { $0.kind == .record }
        // Told with the next collecting. After a kill before it, the same objects are written once more, and taken
        // once.
        settled = state.through
    }

    private func append(
        _ objects: [CircleObject], _ member: UInt32, _ circle: Data, _ folder: SharedFolder
    ) throws {
        let place = folder.folder(Self.digits(member))
        try place.make()
        try takeLock(in: place)
        if ownCircle != circle { (own, ownCircle) = (nil, circle) }
        var end = try own ?? lastPlace(member, circle, place)
        if end.map({ $0.offset >= SegmentFile.fullSize }) ?? true {
            let (head, start) = SegmentFile.head(
                circle: circle, member: member, segment: end.map { $0.segment + 1 } ?? 0,
                before: end?.chain ?? Data(count: 32))
            try place.append(head, to: SegmentFile.name(start.segment), at: 0)
            end = start
        }
        guard let end else { return }
        let (bytes, next) = SegmentFile.group(objects, after: end)
        try place.append(bytes, to: SegmentFile.name(end.segment), at: end.offset)
        own = next
    }

    /// The end of this member's own segments. What a kill left behind the last commit is overwritten.
    private func lastPlace(_ member: UInt32, _ circle: Data, _ folder: SharedFolder) throws -> SegmentFile.Place? {
        var end: SegmentFile.Place?
        while true {
            let number = end.map { $0.segment + 1 } ?? 0
            guard let bytes = folder.read(SegmentFile.name(number), limit: SegmentFile.mostBytes) else { return end }
            let before = end?.chain ?? Data(count: 32)
            let (_, start) = SegmentFile.head(circle: circle, member: member, segment: number, before: before)
            do throws(SegmentFile.Fault) {
                let groups = try SegmentFile.groups(
                    in: bytes, circle: circle, member: member, segment: number, after: nil, before: before)
                // A head that was not written whole is written again.
                guard bytes.count >= SegmentFile.headSize else { return end }
                end = groups.last?.place ?? start
            } catch {
                throw FolderCarrierError.inputOutput(
                    path: folder.path + "/" + SegmentFile.name(number),
                    reason:
                        "this file of this machine's own was changed by somebody else; restore it, or leave the circle "
                        + "with `keychain circle leave` and join again")
            }
        }
    }

    /// Two processes would write over each other's frames.
    private func takeLock(in folder: SharedFolder) throws(FolderCarrierError) {
        guard lock < 0 else { return }
        // The folder itself, so that there is no file that would travel.
        let file = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else {
            throw .inputOutput(path: folder.path, reason: String(cString: strerror(errno)))
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw .busy(path: folder.path)
        }
        lock = file
    }

    private static func digits(_ member: UInt32) -> String { Data(member.bigEndianBytes).hexadecimal() }

    // MARK: Reading

    private func takeIn(_ state: CollectedObjects) throws -> Bool {
        switch state.standing {
        case .none: return false
        case .joining: return try findCircle(state)
        case .member, .removed: return try takeGroups(state)
        }
    }

    /// Gives a vault that was invited the logs of all circles in the folder.
    private func findCircle(_ state: CollectedObjects) throws -> Bool {
        let names = state.circle.map { [$0.hexadecimal()] } ?? root.names()
        for name in names {
            guard let circle = [UInt8](lowercaseHexadecimal: name.utf8), circle.count == 16 else { continue }
            var places = FolderPlaces()
            var entries: [CircleObject] = []
            while true {
                let groups = read(Data(circle), after: places)
                guard !groups.isEmpty else { break }
                for (member, group) in groups {
                    places.places[member] = group.place
                    entries += group.objects.filter { $0.kind == .entry }
                }
            }
            guard !entries.isEmpty else { continue }
            let taken = try take(Array(entries.prefix(CircleObject.most)), place: nil)
            if taken.standing == .member { return true }
            // The request is to be written.
            if state.circle == nil, try collectsRequest() { return true }
        }
        return false
    }

    private func collectsRequest() throws -> Bool {
        let (objects, state) = try collect()
        guard !objects.isEmpty else { return false }
        try write(objects, state)
        return true
    }

    private func takeGroups(_ state: CollectedObjects) throws -> Bool {
        guard let circle = state.circle else { return false }
        var places = state.place.map(FolderPlaces.init(decoding:)) ?? FolderPlaces()
        var hasHappened = false
        while true {
            let groups = read(circle, after: places)
            guard !groups.isEmpty else { break }
            var objects: [CircleObject] = []
            for (member, group) in groups {
                places.places[member] = group.place
                objects += group.objects
            }
            try takeAll(objects, places)
            hasHappened = true
        }
        return try takeRequests(circle) || hasHappened
    }

    private func takeAll(_ objects: [CircleObject], _ places: FolderPlaces) throws {
        var rest = objects[...]
        repeat {
            var (part, bytes): ([CircleObject], Int) = ([], 0)
            while let object = rest.first, part.count < CircleObject.most,
                part.isEmpty || bytes + object.value.count <= CircleObject.largest
            {
                part.append(object)
                bytes += object.value.count
                rest = rest.dropFirst()
            }
            try take(part, place: rest.isEmpty ? places.encoded : nil)
        } while !rest.isEmpty
    }

    @discardableResult
    private func take(_ objects: [CircleObject], place: Data?) throws -> TakenObjects {
        let taken = try vault.perform(TakeCircleObjects(objects, from: Self.name, place: place), as: client)
        report.changed += taken.changed
        report.conflicts += taken.conflicts
        report.refused += taken.refused
        report.waiting = taken.waiting
        for reason in taken.reasons { alarm(reason) }
        return taken
    }

    private func alarm(_ text: String) {
        if !report.alarms.contains(text), report.alarms.count < 64 { report.alarms.append(text) }
    }

    private func takeRequests(_ circle: Data) throws -> Bool {
        let folder = root.folder(circle.hexadecimal()).folder(Self.requests)
        var objects: [CircleObject] = []
        for name in folder.names() where name.hasSuffix(".req") && !seenRequests.contains(name) {
            guard objects.count < CircleObject.most, let key = [UInt8](lowercaseHexadecimal: name.dropLast(4).utf8),
                key.count == 16, let value = folder.read(name, limit: 1 << 16)
            else { continue }
            seenRequests.insert(name)
            objects.append(CircleObject(.request, key: Data(key), value: value))
        }
        guard !objects.isEmpty else { return false }
        try take(objects, place: nil)
        return true
    }

    /// Reads the next group of each member: of all objects that are new, those that came first. A vault that was
    /// restored from a copy gets what it wrote itself, too.
    private func read(
        _ circle: Data, after places: FolderPlaces
    ) -> [(member: UInt32, group: SegmentFile.Group)] {
        let folder = root.folder(circle.hexadecimal())
        var found: [(member: UInt32, group: SegmentFile.Group)] = []
        // More would not fit into what the vault keeps of them.
        for name in folder.names().filter({ $0.utf8.count == 8 }).prefix(Self.mostMembers) {
            guard let digits = [UInt8](lowercaseHexadecimal: name.utf8) else { continue }
            let member = UInt32(bigEndianBytes: digits)
            do throws(SegmentFile.Fault) {
                let groups = try groups(of: member, circle, folder.folder(name), after: places.places[member])
                if let merged = Self.merged(groups) { found.append((member, merged)) }
            } catch {
                alarm("the files of member \(member) are not what they were: \(error)")
            }
        }
        return found
    }

    /// As many groups as one operation takes.
    private static func merged(_ groups: [SegmentFile.Group]) -> SegmentFile.Group? {
        guard var merged = groups.first else { return nil }
        for group in groups.dropFirst() {
            guard merged.objects.count + group.objects.count <= CircleObject.most / 2 else { break }
            merged.objects += group.objects
            merged.place = group.place
        }
        return merged
    }

    private func groups(
        of member: UInt32, _ circle: Data, _ folder: SharedFolder, after place: SegmentFile.Place?
    ) throws(SegmentFile.Fault) -> [SegmentFile.Group] {
        let segment = place?.segment ?? 0
        // Nothing is read again that did not grow.
        if let place, folder.size(SegmentFile.name(segment)) == place.offset {
            return try groupsOfNext(of: member, circle, folder, after: place)
        }
        if let bytes = folder.read(SegmentFile.name(segment), limit: SegmentFile.mostBytes) {
            // Only what follows the place is compared with its chain value, and the head.
            let before = place == nil || segment == 0 ? Data(count: 32) : Data(bytes.prefix(65).suffix(32))
            let groups = try SegmentFile.groups(
                in: bytes, circle: circle, member: member, segment: segment, after: place, before: before)
            if !groups.isEmpty { return groups }
        } else if place != nil {
            throw .changed
        }
        guard let place else { return [] }
        return try groupsOfNext(of: member, circle, folder, after: place)
    }

    /// The next segment goes on where the last one ended.
    private func groupsOfNext(
        of member: UInt32, _ circle: Data, _ folder: SharedFolder, after place: SegmentFile.Place
    ) throws(SegmentFile.Fault) -> [SegmentFile.Group] {
        let segment = place.segment
        guard let bytes = folder.read(SegmentFile.name(segment + 1), limit: SegmentFile.mostBytes) else { return [] }
        return try SegmentFile.groups(
            in: bytes, circle: circle, member: member, segment: segment + 1, after: nil, before: place.chain)
    }
}
