import Bytes
import FoundationEssentials
import VaultInterface

/// Reads the folders of a circle's members, each of which goes on by itself.
struct FolderReader {
    private let folder: SharedFolder
    private let circle: Data
    private let most: Int
    private(set) var members: [UInt32: MemberFiles] = [:]
    /// Where reading goes on of members whose folders are not there now, too.
    private var known: [UInt32: FolderPlaces.Member]
    /// Since when the folder lacks what others have, by member, in milliseconds since 1970.
    var lacking: [UInt32: Int64]
    /// The member whose turn it is.
    private var turn: UInt32 = 0
    /// How many folders were left out.
    private(set) var leftOut = 0

    /// More would not fit into what the vault keeps of them.
    static let mostMembers = 8_192
    /// How many bytes are read before the vault takes them in.
    private static let mostBytes = 4 << 20

    init(
        _ folder: SharedFolder, _ circle: Data, after places: FolderPlaces = FolderPlaces(), most: Int = mostMembers
    ) {
        (self.folder, self.circle, known, self.most) = (folder, circle, places.members, most)
        lacking = places.members.mapValues(\.lacking).filter { $0.value != 0 }
    }

    /// How far each member's files were read.
    var places: [UInt32: FolderPlaces.Member] {
        var places = known.merging(members.compactMapValues(\.places)) { _, present in present }
        // Of somebody whose files are withheld altogether there is nothing but that.
        for number in lacking.keys where places[number] == nil { places[number] = files(of: number).places }
        for number in places.keys { places[number]?.lacking = lacking[number] ?? 0 }
        return places
    }

    /// The chain value at an earlier place of a member's files; zeros if no frame ends there, nil if the file is not
    /// there.
    mutating func chain(of number: UInt32, at place: SegmentFile.Place) -> Data? {
        var files = files(of: number)
        defer { members[number] = files }
        return files.chain(at: place)
    }

    struct Found {
        var member: UInt32
        var objects: [CircleObject]
        var place: SegmentFile.Place?
    }

    /// Reads the next groups of the members.
    ///
    /// - Parameter last: The highest number of a member; nil if that is not known yet.
    mutating func next(through last: UInt32?) -> [Found] {
        let numbers = look(through: last)
        var (found, bytes) = ([Found](), 0)
        let start = numbers.firstIndex { $0 >= turn } ?? 0
        for number in numbers[start...] + numbers[..<start] {
            while let group = next(of: number) {
                found.append(group)
                bytes += group.objects.reduce(0) { $0 + $1.value.count }
                // One whose objects lie on its line comes to the others' turn.
                if bytes >= Self.mostBytes || group.objects.count >= CircleObject.most / 2 { break }
            }
            guard bytes < Self.mostBytes else {
                turn = number &+ 1
                break
            }
        }
        return found
    }

    /// Reads the next group of a member's files.
    mutating func next(of number: UInt32) -> Found? {
        var files = files(of: number)
        defer { members[number] = files }
        return files.next().map { Found(member: number, objects: $0.objects, place: $0.place) }
    }

    func files(of number: UInt32) -> MemberFiles {
        let name = Data(number.bigEndianBytes).hexadecimal()
        return members[number] ?? MemberFiles(folder.folder(name), circle, number, after: known[number])
    }

    mutating func advance(_ number: UInt32, to place: SegmentFile.Place, isOnlyHeads: Bool) {
        var files = files(of: number)
        files.advance(to: place, isOnlyHeads: isOnlyHeads)
        members[number] = files
    }

    /// Forgets how far members' files were read that the vault wants to see again.
    ///
    /// - Parameter own: This vault's own number: it knows what it wrote.
    mutating func restart(except own: UInt32) {
        members = members.filter { $0.key == own }
        known = known.filter { $0.key == own }
    }

    private mutating func look(through last: UInt32?) -> [UInt32] {
        let numbers = folder.names().filter { $0.utf8.count == 8 }.compactMap { name in
            [UInt8](lowercaseHexadecimal: name.utf8).map { UInt32(bigEndianBytes: $0) }
        }
        // Everybody who can write here can make folders with numbers that no member has.
        let ofMembers = numbers.filter { number in number > 0 && last.map { number <= $0 } ?? true }.sorted()
        leftOut = max(0, ofMembers.count - most)
        return Array(ofMembers.prefix(most))
    }
}
