import Bytes

/// What a program gets in the place of a secret: random text that has the secret's shape, because clients check the
/// shape before they ask a server.
package enum Placeholder {
    /// The beginnings by which services mark their tokens. They are public, and the placeholder has them too.
    private static let marks = [
        "github_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "glpat-", "gldt-", "glrt-", "sk-ant-api03-", "sk-ant-",
        "sk-proj-", "sk-or-v1-", "sk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_",
        "xoxb-", "xoxp-", "xoxa-", "xoxs-", "xapp-", "npm_", "pypi-", "hf_", "dop_v1_", "dckr_pat_", "hvs.", "hvb.",
        "AKIA", "ASIA", "AIza", "ya29.", "SG.", "whsec_", "shpat_", "lin_api_", "figd_", "nvapi-", "gsk_", "xai-",
        "tskey-", "r8_", "sbp_", "crates-io-",
    ]

    /// Shorter secrets are passwords that people make up. Their placeholder has a length of its own, which says nothing
    /// about them.
    private static let shortestToken = 20
    private static let lengthOfOthers = 32

    /// Makes a placeholder for one run of a program.
    ///
    /// Of a token, it keeps a known mark, the length, and the characters that are neither letters nor digits. At least
    /// twelve characters are random, so that nothing else is taken for it.
    package static func make(for secret: SecretBytes) -> String {
        secret.withUnsafeBytes { bytes in
            guard let token = token(bytes) else { return random(lengthOfOthers, of: alphanumeric) }
            let mark = marks.first { token.starts(with: $0.utf8) }.map { Array($0.utf8) } ?? []
            let rest = token.dropFirst(mark.count)
            let letters = alphabet(of: rest)
            let made = rest.map { isAlphanumeric($0) ? letters.randomElement() ?? $0 : $0 }
            return String(decoding: mark + made, as: UTF8.self)
        }
    }

    /// Returns the bytes if they look like a token and not like words of a person: of the characters that tokens have,
    /// with many in a row, or in the form of a UUID.
    private static func token(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard bytes.count >= shortestToken, bytes.count <= 8_192,
            bytes.allSatisfy({ isAlphanumeric($0) || "._~+/=-".utf8.contains($0) })
        else { return nil }
        let runs = bytes.split { !isAlphanumeric($0) }.map(\.count)
        return runs.contains { $0 >= 16 } || runs == [8, 4, 4, 4, 12] ? bytes : nil
    }

    /// The alphabet that the letters and digits come from, as far as it shows.
    private static func alphabet(of bytes: some Collection<UInt8>) -> [UInt8] {
        let used = Set(bytes.filter(isAlphanumeric))
        let alphabets = [
            "0123456789", "0123456789abcdef", "0123456789ABCDEF", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
            "0123456789abcdefghijklmnopqrstuvwxyz", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        ]
        return alphabets.map { Array($0.utf8) }.first { used.isSubset(of: $0) } ?? alphanumeric
    }

    private static let alphanumeric = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
    }

    /// `randomElement` draws from the system's secure random generator.
    private static func random(_ count: Int, of letters: [UInt8]) -> String {
        String(decoding: (0..<count).map { _ in letters.randomElement() ?? 0x30 }, as: UTF8.self)
    }
}
