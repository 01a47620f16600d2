import Bytes
import KeychainModel
import PasswordHashes

/// What one try at a password costs whoever has stolen the hashes, on one core.
func measurePasswords(rounds: Int) throws {
    let (password, wrong) = (try SecretBytes("correct horse battery"), try SecretBytes("correct horse staples"))
    let mobile = SaltedSHA256(salt: "x4vV8bGgqqmQwgCoyXFQj", separator: ".")
    let digits = [UInt8](repeating: 1, count: 32)
    let argon2 = try HashedPassword(HashedPassword.make(password, cost: Argon2Cost(memoryKiB: 65_536, passes: 3)))
    // Cost 10, as most libraries have it.
    let bcrypt = try HashedPassword("$2b$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW")
    var (first, second, third) = (Samples(.processor), Samples(.processor), Samples(.processor))
    for _ in 0..<rounds {
        let tries = 100_000
        first.measure(operations: tries) {
            for _ in 0..<tries where mobile.matches(wrong, account: "ada@example.com", hash: digits) {
                preconditionFailure("a wrong password matches")
            }
        }
        try second.measure(operations: 1) { _ = try bcrypt.matches(wrong) }
        try third.measure(operations: 1) { _ = try argon2.matches(wrong) }
    }
    emit("password.sha256", first)
    emit("password.bcrypt", second)
    emit("password.argon2id", third)
}
