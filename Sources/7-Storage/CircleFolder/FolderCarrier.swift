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

    private let now: @Sendable () -> Date
    let vault: any Vault
    let client: Client
    let root: SharedFolder
    /// Reads the folder of the circle; nil until the vault is a member, and after a failure.
    var reader: FolderReader?
    private var readerCircle: Data?
    /// What the vault keeps for this carrier.
    private var stored: Data?
    /// Where the groups that this vault writes now will end.
    private var intended: [SegmentFile.Place] = []
    /// Whether the vault knew what it wrote itself.
    private var isOwnKnown = false
    private var own: UInt32?
    private var settled: Int64 = 0
    private var seenRequests: Set<String> = []
    private var removed: Data?
    private var lookups: [String: Lookup] = [:]
    private var lock: Int32 = -1
    private var locked = ""
    private var hasRead = false
    package private(set) var report = Report()
    /// What others have read and written that the folder did not show at the last look.
    package private(set) var agreement = CircleFindings()

    /// The logs that a vault that was invited looks through.
    private struct Lookup {
        var reader: FolderReader
        var entries: Set<CircleObject> = []
    }

    /// How the vault knows this carrier.
    package static let name = CollectCircleObjects.folder
    private static let requests = "requests"
    /// How many circles of a folder a vault looks through that was invited to one.
    private static let mostCircles = 256

    /// - Parameters:
    ///   - client: Holds the right to synchronize.
    ///   - path: An existing folder.
    ///   - now: The time, for how long something is missing.
    package init(
        _ vault: any Vault, as client: Client, folder path: String, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.vault, self.client, root, self.now) = (vault, client, SharedFolder(path: path), now)
    }

    deinit { if lock >= 0 { close(lock) } }

    // MARK: Both ways

    /// Writes what the vault has for the others, and takes in what is new in the folder, until there is neither.
    ///
    /// - Returns: Whether anything happened.
    /// - Throws: ``FolderCarrierError`` and ``VaultError``.
    @discardableResult
    package func synchronize() throws -> Bool {
        do {
            return try carry()
        } catch {
            // The vault may not have taken what was read.
            (reader, lookups, hasRead) = (nil, [:], false)
            throw error
        }
    }

    private func carry() throws -> Bool {
        guard root.exists else { throw FolderCarrierError.missing(path: root.path) }
        var hasHappened = false
        if !hasRead {
            // A vault that was restored from a copy learns first what it wrote since, and uses no number twice.
            let state = try state()
            if state.standing == .member { hasHappened = try takeIn(state) }
            hasRead = true
        }
        while true {
            let (objects, state) = try collect(statement())
            report.standing = state.standing
            if state.standing == .none, objects.isEmpty {
                // The vault has left, and the others were told.
                if hasHappened { return true }
                throw FolderCarrierError.noCircle("the vault is in no circle; make one with `keychain circle create`")
            }
            let isWritten = try !objects.isEmpty && write(objects, state)
            let isTaken = try takeIn(state)
            hasHappened = hasHappened || isWritten || isTaken
            let isIdle = !isWritten && !isTaken
            if isIdle, state.standing == .member { try compare(state) }
            if !objects.isEmpty, isIdle {
                throw FolderCarrierError.ownFiles(path: ownFolder(state)?.path ?? root.path)
            }
            guard !isIdle || state.hasMore else { return hasHappened }
        }
    }

    /// What this vault tells the others; nil while it does not know it itself.
    private func statement() -> Data? {
        guard let reader, let own else { return nil }
        return FolderStatement(reader.places, own: own).encoded
    }

    /// Compares what others say with what the folder shows, and notes since when something is missing.
    private func compare(_ state: CollectedObjects) throws {
        // Before the first unlocking, nobody knows what they said.
        guard var present = reader, !state.heads.isEmpty else { return }
        agreement = CircleFindings(present.places, state) { member, place in present.chain(of: member, at: place) }
        let before = present.lacking
        agreement.keepTimes(from: before.mapValues { Date(milliseconds: $0) }, now: now())
        present.lacking = agreement.since.mapValues(\.milliseconds)
        reader = present
        if present.lacking != before { try take([], place: places().encoded) }
        for text in agreement.alarms(at: now()) { alarm(text) }
    }

    /// What was found at the last look of any carrier of this vault, without the folder.
    package func lastAgreement() throws -> CircleFindings {
        let state = try vault.perform(
            CollectCircleObjects(for: Self.name, limit: 0, statement: Data()), as: client
        ) { (_: CircleObject) throws(VaultError) in }
        let places = state.place.map(FolderPlaces.init(decoding:)) ?? FolderPlaces()
        var agreement = CircleFindings(places.members, state) { _, _ in nil }
        agreement.since = places.members.filter { $0.value.lacking != 0 && agreement.findings[$0.key] != nil }
            .mapValues { Date(milliseconds: $0.lacking) }
        return agreement
    }

    /// What the vault is, without having it make anything.
    private func state() throws -> CollectedObjects {
        try vault.perform(CollectCircleObjects(for: Self.name, limit: 0), as: client) {
            (_: CircleObject) throws(VaultError) in
        }
    }

    private func collect(_ statement: Data? = nil) throws -> ([CircleObject], CollectedObjects) {
        var objects: [CircleObject] = []
        let reply = try vault.perform(
            CollectCircleObjects(for: Self.name, settled: settled, isCaughtUp: true, statement: statement), as: client
        ) { object throws(VaultError) in objects.append(object) }
        settled = 0
        return (objects, reply)
    }

    // MARK: Writing

    private func ownFolder(_ state: CollectedObjects) -> SharedFolder? {
        state.circle.map { root.folder($0.hexadecimal()).folder(Data(state.member.bigEndianBytes).hexadecimal()) }
    }

    /// - Returns: Whether the objects are in the folder.
    private func write(_ objects: [CircleObject], _ state: CollectedObjects) throws -> Bool {
        guard let circle = state.circle else { return false }
        let folder = root.folder(circle.hexadecimal())
        let others = objects.filter { $0.kind != .request }
        if !others.isEmpty, state.member > 0 {
            guard try append(others, state, folder) else { return false }
        }
        for request in objects where request.kind == .request {
            let place = folder.folder(Self.requests)
            try folder.make()
            try place.make()
            try place.make(request.key.hexadecimal() + ".req", request.value)
        }
        report.written += objects.count { $0.kind == .record }
        // Told with the next collecting. After a kill before it, the same objects are written once more, and taken
        // once.
        settled = state.through
        return true
    }

    private func append(_ objects: [CircleObject], _ state: CollectedObjects, _ folder: SharedFolder) throws -> Bool {
        guard let place = ownFolder(state), var line = prepare(state)?.files(of: state.member) else { return false }
        let member = state.member
        // Where nothing is of all that this vault wrote, the folder is another one, or is not mounted.
        guard line.line.isAtStart || place.exists else { return false }
        try folder.make()
        try place.make()
        try takeLock(in: place)
        // Another process may have written meanwhile.
        try takeGroups(state) { reader in reader.next(of: member).map { [$0] } ?? [] }
        line = reader?.files(of: member) ?? line
        guard line.fault == nil, var end = line.line.place else { return false }
        var (bytes, offset) = (Data(), end.offset)
        if line.line.isAtStart || end.offset >= SegmentFile.fullSize {
            let isFirst = line.line.isAtStart
            let head = SegmentFile.head(
                circle: line.circle, member: member, segment: isFirst ? 0 : end.segment + 1,
                before: isFirst ? Data(count: 32) : end.chain)
            (bytes, offset, end) = (head.bytes, 0, head.place)
        }
        let heads = objects.filter { $0.kind == .head }
        let told = SegmentFile.group(objects.filter { $0.kind != .head }, after: end)
        if heads.count < objects.count { (bytes, end) = (bytes + told.bytes, told.place) }
        let toldEnd = end
        if !heads.isEmpty {
            // By themselves: what members tell each other is nothing to tell.
            let group = SegmentFile.group(heads, after: end)
            (bytes, end) = (bytes + group.bytes, group.place)
        }
        // After a kill it is known by this who wrote it.
        intended = [toldEnd, end]
        try take([], place: places().encoded)
        try place.append(bytes, to: SegmentFile.name(end.segment), at: offset)
        if heads.count < objects.count { reader?.advance(member, to: toldEnd, isOnlyHeads: false) }
        reader?.advance(member, to: end, isOnlyHeads: true)
        return true
    }

    /// Two processes would write over each other's frames.
    private func takeLock(in folder: SharedFolder) throws(FolderCarrierError) {
        guard lock < 0 || locked != folder.path else { return }
        // The folder itself, so that there is no file that would travel.
        let file = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else {
            throw .inputOutput(path: folder.path, reason: String(cString: strerror(errno)))
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            close(file)
            throw .busy(path: folder.path)
        }
        // A vault that joined anew has another folder.
        if lock >= 0 { close(lock) }
        (lock, locked) = (file, folder.path)
    }

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
        let circles = names.filter { $0.utf8.count == 32 }.compactMap { name in
            [UInt8](lowercaseHexadecimal: name.utf8).map { (name, Data($0)) }
        }
        for (name, circle) in circles.prefix(Self.mostCircles) {
            var lookup = lookups[name] ?? Lookup(reader: FolderReader(root.folder(name), circle))
            let before = lookup.entries.count
            while true {
                let found = lookup.reader.next(through: nil)
                guard !found.isEmpty else { break }
                lookup.entries.formUnion(
                    found.flatMap(\.objects).filter { $0.kind == .entry || Self.isForRecovery($0) })
            }
            lookups[name] = lookup
            guard lookup.entries.count > before else { continue }
            // The vault recognizes its circle by the first of them, and takes the others after that.
            var rest = lookup.entries.sorted {
                ($0.kind.rawValue, $0.key.hexadecimal()) < ($1.kind.rawValue, $1.key.hexadecimal())
            }[...]
            while !rest.isEmpty {
                let part = Self.part(of: &rest, bytes: 2 * CircleObject.largest)
                let taken = try take(part, place: nil)
                if taken.standing == .member {
                    lookups = [:]
                    return true
                }
            }
            // The request is to be written.
            if state.circle == nil, try collectsRequest() { return true }
        }
        return false
    }

    /// Whether an object is a key for the recovery key, which has the number 0.
    private static func isForRecovery(_ object: CircleObject) -> Bool {
        object.kind == .delivery && object.key.prefix(4) == Data(count: 4)
    }

    private func collectsRequest() throws -> Bool {
        let (objects, state) = try collect()
        guard !objects.isEmpty else { return false }
        return try write(objects, state)
    }

    /// Has the reader go on where the vault says.
    private func prepare(_ state: CollectedObjects) -> FolderReader? {
        guard let circle = state.circle else { return nil }
        if let present = reader, readerCircle == circle {
            guard state.place != stored else { return present }
            if state.place == nil {
                // The vault has keys for what it could not use before.
                reader?.restart(except: state.member)
                stored = nil
                return reader
            }
        }
        let places = state.place.map(FolderPlaces.init(decoding:)) ?? FolderPlaces()
        reader = FolderReader(root.folder(circle.hexadecimal()), circle, after: places)
        (readerCircle, stored, intended) = (circle, state.place, places.intended)
        isOwnKnown = places.members[state.member] != nil
        own = state.standing == .member ? state.member : nil
        return reader
    }

    private func places() -> FolderPlaces {
        var places = FolderPlaces()
        (places.members, places.intended) = (reader?.places ?? [:], intended)
        return places
    }

    private func takeGroups(_ state: CollectedObjects) throws -> Bool {
        guard let circle = state.circle, prepare(state) != nil else { return false }
        let last = state.lastMember > 0 ? state.lastMember : nil
        let hasHappened = try takeGroups(state) { $0.next(through: last) }
        noteAlarms(state)
        removeAnswered(state, circle)
        return try takeRequests(circle) || hasHappened
    }

    /// Takes in what `next` reads, until nothing more comes.
    @discardableResult
    private func takeGroups(
        _ state: CollectedObjects, _ next: (inout FolderReader) -> [FolderReader.Found]
    ) throws -> Bool {
        var (hasHappened, isOwnFound) = (false, false)
        var known: FolderPlaces?
        while var present = reader {
            let found = next(&present)
            reader = present
            guard !found.isEmpty else { break }
            if !isOwnFound, found.contains(where: { $0.member == state.member && $0.place != nil }) {
                isOwnFound = true
                // What the vault keeps before it keeps this: another process of this machine may have written.
                known = try self.state().place.map(FolderPlaces.init(decoding:))
            }
            try takeAll(found.flatMap(\.objects))
            hasHappened = true
        }
        if isOwnFound { checkOwn(state, known) }
        return hasHappened
    }

    /// Compares where this vault's own files end with what it wrote.
    private func checkOwn(_ state: CollectedObjects, _ known: FolderPlaces?) {
        defer { isOwnKnown = true }
        guard isOwnKnown, let end = reader?.files(of: state.member).line.place, !intended.contains(end),
            known?.intended.contains(end) != true,
            known?.members[state.member].map({ end.isBehind($0.place) }) ?? true
        else { return }
        alarm(
            "the files of this vault hold changes that it does not remember. It has them now. If it was restored from a copy, "
                + "all is well; if two machines use copies of one vault, run `keychain circle leave --only-here` on one of "
                + "them, and join again there")
    }

    private func takeAll(_ objects: [CircleObject]) throws {
        var rest = objects[...]
        repeat {
            let part = Self.part(of: &rest)
            try take(part, place: rest.isEmpty ? places().encoded : nil)
        } while !rest.isEmpty
    }

    /// Takes as many objects as one operation takes.
    private static func part(
        of rest: inout ArraySlice<CircleObject>, bytes most: Int = CircleObject.largest
    ) -> [CircleObject] {
        var (part, bytes): ([CircleObject], Int) = ([], 0)
        while let object = rest.first, part.count < CircleObject.most,
            part.isEmpty || bytes + object.value.count <= most
        {
            part.append(object)
            bytes += object.value.count
            rest = rest.dropFirst()
        }
        return part
    }

    @discardableResult
    private func take(_ objects: [CircleObject], place: Data?) throws -> TakenObjects {
        let taken = try vault.perform(TakeCircleObjects(objects, from: Self.name, place: place), as: client)
        if let place { stored = place }
        report.changed += taken.changed
        report.conflicts += taken.conflicts
        report.refused += taken.refused
        report.waiting = taken.waiting
        for reason in taken.reasons { alarm(reason) }
        return taken
    }

    func alarm(_ text: String) {
        if !report.alarms.contains(text), report.alarms.count < 64 { report.alarms.append(text) }
    }

    private func noteAlarms(_ state: CollectedObjects) {
        guard let reader else { return }
        for (number, files) in reader.members.sorted(by: { $0.key < $1.key }) {
            if let fault = files.fault {
                alarm(
                    number == state.member
                        ? FolderCarrierError.ownFiles(path: files.folder.path).description
                        : "the files of member \(number) are not what they were: \(fault)")
            }
            guard let copy = files.copies.first else { continue }
            alarm(
                "there are copies of files of member \(number), such as \(copy): two machines write as this member. Their changes "
                    + "are read from both. On one of the two, run `keychain circle leave --only-here` and join again; then "
                    + "remove the copies")
        }
        if reader.leftOut > 0 {
            alarm("the folders of \(reader.leftOut) members are not read: a folder carries \(FolderReader.mostMembers)")
        }
    }

    // MARK: Requests

    private func removeAnswered(_ state: CollectedObjects, _ circle: Data) {
        guard let answered = state.answered, answered != removed else { return }
        root.folder(circle.hexadecimal()).folder(Self.requests).remove(answered.hexadecimal() + ".req")
        removed = answered
    }

    private func takeRequests(_ circle: Data) throws -> Bool {
        let folder = root.folder(circle.hexadecimal()).folder(Self.requests)
        var objects: [CircleObject] = []
        for name in folder.names() where name.hasSuffix(".req") && !seenRequests.contains(name) {
            guard objects.count < CircleObject.most, let key = [UInt8](lowercaseHexadecimal: name.dropLast(4).utf8),
                key.count == 16, let value = folder.read(name, limit: 1 << 16)
            else { continue }
            objects.append(CircleObject(.request, key: Data(key), value: value))
        }
        guard !objects.isEmpty else { return false }
        var rest = objects[...]
        let part = Self.part(of: &rest)
        try take(part, place: nil)
        seenRequests.formUnion(part.map { $0.key.hexadecimal() + ".req" })
        return true
    }
}
