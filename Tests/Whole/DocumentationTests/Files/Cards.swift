// Cards.swift
import GRDB
import KeychainServices
import SealedFields

/// Says when the key of the cards may be used: while unlocked, on this machine, and with a person there.
private let control = SecAccessControlCreateWithFlags(
    nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, [.privateKeyUsage, .userPresence], nil)!

struct Card: SealedRecord, PersistableRecord {
    static let fieldSealing = FieldSealing(
        database: "cards",
        keys: FieldKeys("com.example.cards", protection: .enclave(control), prompt: "see your cards"))

    var id: String
    var pin: SealedColumnValue<String>?
}

/// Stores a card, which asks nobody.
func store(pin: String, in queue: DatabaseQueue) throws {
    var card = Card(id: "bank")
    card.pin = try card.seal(pin, for: "pin")
    try queue.write { try card.insert($0) }
}

/// Reads the card's number, which asks a person.
func pin(in queue: DatabaseQueue) throws -> String? {
    guard let card = try queue.read({ try Card.fetchOne($0, key: "bank") }), let pin = card.pin else { return nil }
    return try card.open(pin, from: "pin")
}
