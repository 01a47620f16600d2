import Access
import Bytes
import Foundation
import KeychainModel
import Vault
import VaultInterface

/// Prints how long it takes to hand on so many items to a new member of a circle, and to take them in there, in
/// microseconds an item, and how long a single change takes to both.
func measureCircle(in folder: String, count: Int) throws {
    let owner = Client(identifier: "benchmark", accessGroups: ["group", Client.everyGroup])
    let vaults = try ["a", "b"].map { try EmbeddedVault.open(at: folder + "/circle-\(count)-" + $0) }
    var places: [Int64] = [0, 0]
    /// What a vault has for the other.
    func collected(_ number: Int) throws -> [CircleObject] {
        var (objects, hasMore) = ([CircleObject](), true)
        while hasMore {
            let before = objects.count
            let reply = try vaults[number].perform(
                CollectCircleObjects(for: "benchmark", settled: places[number]), as: owner
            ) { (object: CircleObject) throws(VaultError) in objects.append(object) }
            places[number] = reply.through
            hasMore = reply.hasMore || objects.count > before
        }
        return objects
    }
    func take(_ objects: [CircleObject], _ number: Int) throws {
        var rest = objects[...]
        repeat {
            let part = Array(rest.prefix(CircleObject.most))
            rest = rest.dropFirst(part.count)
            let taken = try vaults[number].perform(
                TakeCircleObjects(part, from: "benchmark", place: Data([1])), as: owner)
            guard taken.refused == 0 else { throw VaultError.invalidRequest(reason: "\(taken.reasons)") }
        } while !rest.isEmpty
    }
    _ = try vaults[0].perform(ChangeCircle(.create(name: "a", groups: ["group"], location: "")), as: owner)
    let invited = try vaults[0].perform(ChangeCircle(.invite(count: 1, seconds: 3_600, rights: 15)), as: owner)
    guard let secret = invited.secret else { return }
    _ = try vaults[1].perform(
        ChangeCircle(.join(secret: secret, name: "b", location: "", groups: ["group"])), as: owner)
    try take(try collected(0), 1)
    try take(try collected(1), 0)
    guard let request = try vaults[0].perform(ReadCircle(), as: owner).requests.first else { return }
    _ = try vaults[0].perform(ChangeCircle(.approve(request: request.identifier, groups: nil)), as: owner)
    let welcome = try collected(0)
    for _ in 0..<2 { try take(welcome, 1) }
    // In parts, as one operation takes them.
    var items: [StoredItem] = []
    for number in 0..<count {
        items.append(
            StoredItem(
                itemClass: .genericPassword, identifier: UUID(),
                attributes: [
                    .service: .string("com.example.service-\(number)"), .account: .string("user@example.com"),
                ],
                accessGroup: "group", accessControl: AccessControl(protection: .whenUnlocked), isSynchronizable: true,
                creationDate: Date(), modificationDate: Date(), value: Data(count: 32)))
        guard items.count == ReceiveItems.most || number == count - 1 else { continue }
        _ = try vaults[0].perform(ReceiveItems(items, keepsIdentity: false), as: owner)
        items = []
    }
    let clock = ContinuousClock()
    var began = clock.now
    let objects = try collected(0)
    let perItem = { (duration: Duration) in duration / Duration.microseconds(1) / Double(count) }
    print("circle.hand-on.\(count)\t\(perItem(clock.now - began))")
    began = clock.now
    try take(objects, 1)
    print("circle.take-in.\(count)\t\(perItem(clock.now - began))")
    let bytes = objects.reduce(0) { $0 + $1.value.count }
    print("circle.bytes.\(count)\t\(bytes / count)")
    var times: [Double] = []
    for round in 0..<50 {
        let query = ItemQuery(
            itemClass: .genericPassword, attributes: [.service: .string("com.example.service-\(round)")],
            accessGroup: "group", synchronizable: .any)
        began = clock.now
        _ = try vaults[0].perform(
            UpdateItems(query, with: ItemChanges(value: Data([UInt8(truncatingIfNeeded: round)]))), as: owner)
        try take(try collected(0), 1)
        times.append((clock.now - began) / .microseconds(1))
    }
    print("circle.change.\(count)\t\(times.sorted()[times.count / 2])")
    for vault in vaults { vault.close() }
}
