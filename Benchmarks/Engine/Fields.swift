import Crypto
import Foundation
import Glibc
import SealedFields

/// Sealed fields, against swift-crypto's ChaChaPoly alone with the same bytes.
func measureFields(in folder: String, bytes: [Int], rounds: Int) throws {
    let scratch = "\(folder)/fields-\(getpid())"
    try FileManager.default.createDirectory(
        atPath: scratch, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: scratch) }
    setenv("KEYCHAIN_HOME", scratch + "/vault", 1)
    setenv("KEYCHAIN_ACCESS_GROUPS", "TEAM.benchmark", 1)
    let keys = FieldKeys("benchmark")
    for algorithm in [SealingAlgorithm.chaChaPoly, .aesGCM] {
        let sealing = FieldSealing(database: "benchmark", keys: keys, algorithm: algorithm)
        let name = algorithm == .chaChaPoly ? "" : "aes."
        for count in bytes { try measure(sealing, "fields.\(name)\(count)", count, rounds) }
    }
}

private func measure(_ sealing: FieldSealing, _ name: String, _ count: Int, _ rounds: Int) throws {
    let text = String(repeating: "x", count: count)
    let data = Data(text.utf8)
    let key = SymmetricKey(size: .bits256)
    let operations = 20_000
    // Filled once before anything is measured.
    var sealed = try (0..<operations).map { try sealing.seal(text, at: place($0)) }
    var boxes = try (0..<operations).map { _ in try ChaChaPoly.seal(data, using: key).combined }
    var (seal, bareSeal, open, bareOpen) = (
        Samples(.processor), Samples(.processor), Samples(.processor), Samples(.processor)
    )
    for _ in 0..<rounds {
        try seal.measure(operations: operations) {
            for number in 0..<operations { sealed[number] = try sealing.seal(text, at: place(number)) }
        }
        try bareSeal.measure(operations: operations) {
            for number in 0..<operations { boxes[number] = try ChaChaPoly.seal(data, using: key).combined }
        }
        try open.measure(operations: operations) {
            for number in 0..<operations {
                guard try sealing.open(sealed[number], at: place(number)).utf8.count == count else {
                    throw POSIXError(.EIO)
                }
            }
        }
        try bareOpen.measure(operations: operations) {
            for number in 0..<operations {
                let box = try ChaChaPoly.SealedBox(combined: boxes[number])
                guard try ChaChaPoly.open(box, using: key).count == count else { throw POSIXError(.EIO) }
            }
        }
    }
    emit("\(name).seal", seal)
    emit("\(name).seal.bare", bareSeal)
    emit("\(name).open", open)
    emit("\(name).open.bare", bareOpen)
}

private func place(_ number: Int) -> FieldPlace {
    FieldPlace(table: "note", column: "body", row: RowKey(Int64(number)))
}
