import Foundation

/// A pair of halves that belong together, and one that does not, in base64.
enum RefsFixtures {
    /// Issued by `C=us, CN="Conf  test ca"` (PrintableString) for `CN=leaf one` (UTF8String), with the
    /// serial number 0x1234 and a subject key identifier of twenty bytes 0x11.
    static let certificate = decoded(
        """
        MIICCTCB8qADAgECAgISNDANBgkqhkiG9w0BAQsFADAlMQswCQYDVQQGEwJ1czEWMBQGA1UEAxMNQ29uZiAgdGVzdCBjYTAeFw0yMDAx
        MDEwMDAwMDBaFw00MDAxMDEwMDAwMDBaMBMxETAPBgNVBAMMCGxlYWYgb25lMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEk7fsGN81
        42Qb9C8rn7OnNvDyEb18C4y/JIup3tGAfvX6hX3A4lfMiaWFWiA5G8m/thdzHceSeJZtZ8ru7UIQi6MhMB8wHQYDVR0OBBYEFBERERER
        ERERERERERERERERERERMA0GCSqGSIb3DQEBCwUAA4IBAQAcwALKFEtfYAZcadEovH5pI90FkS6fi8/K/ct/Xt1yWAHJX+rNdBqEIzPX
        Gx6LFA/qpOqGPvXoak5uPyWFKTs/LhbSUR1v6QhkuBULyPUzR4zHEni2P8spJYc49p722epr97ig636wEXP1G/jPNfFI7xPIofqOHJs6
        lVZEhgcFVgI6Pv/VMm+aVzjPvwgD2T8PvTmQPBtvNgwVPNYJsXg1or3X1JFcz47b+5yR0lRL4BKOxOhIfix8M7gVeA5cTPbWgfI9O+od
        pTpCc2HV2szEEjhRNpuElf8w/CTsp0KLRs+3NfdgVRDSKi5kVbxTcIoXSg8n9wqX29UdQz4b/7gI
        """)
    /// The certificate's private key, `04 ‖ X ‖ Y ‖ K` on P-256.
    static let privateKey = decoded(
        """
        BJO37BjfNeNkG/QvK5+zpzbw8hG9fAuMvySLqd7RgH71+oV9wOJXzImlhVogORvJv7YXcx3HkniWbWfK7u1CEIsAQTR3zLJI+qIwLbI8
        carN8y2eGNplJn4o1BBu722YfQ==
        """)
    static var publicKey: Data { privateKey.prefix(65) }
    /// A PKCS#1 public key of 1024 bits.
    static let rsaPublicKey = decoded(
        """
        MIGJAoGBAMLHHtQd5PmvmFgHZdQxxaDHjpMHbZ9d6/RPgFtpX6uQaTAjs7I6c/tX9L+VFxG49vzEZHhs+30wGCfNAdbAKXUZkmPp/7dK
        8Lzwjrvc3XiyDXBnSFj6GKZytmMPGTZwynepRP8UwrGH00xCCXqDNNRoN6ntitNHqjYNuhI84ZqJAgMBAAE=
        """)
    /// SHA-1 of the certificate's public key.
    static let publicKeyHash = decoded("bX68uEITIQJR32VAIsDz7Mf2TVk=")

    private static func decoded(_ text: String) -> Data {
        Data(base64Encoded: text, options: .ignoreUnknownCharacters) ?? Data()
    }
}
