import Crypto
import Foundation

/// Five by five squares, the same on the left as on the right, in a color: what stands for somebody of whom there is no
/// picture. It is made of a hash of the address, so that a person always has the same one.
public struct GeneratedPattern: Sendable, Hashable {
    /// Squares in a row and in a column.
    public static let size = 5

    /// Which squares are filled, row by row.
    public let squares: [[Bool]]
    /// The color's hue, in degrees.
    public let hue: Int

    /// The pattern of an address.
    public init(of email: EmailAddress) {
        let hash = [UInt8](SHA256.hash(data: Data("pattern \(email.text)".utf8)))
        let half = (Self.size + 1) / 2
        squares = (0..<Self.size).map { row in
            (0..<Self.size).map { column in
                let mirrored = min(column, Self.size - 1 - column)
                return hash[row * half + mirrored] & 1 == 1
            }
        }
        hue = (Int(hash[30]) << 8 | Int(hash[31])) % 360
    }

    /// As a picture for pages.
    public var svg: String {
        let side = 10
        let path = squares.enumerated().flatMap { row, line in
            line.enumerated().filter(\.element).map { column, _ in
                "M\(5 + column * side) \(5 + row * side)h\(side)v\(side)h-\(side)z"
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 60" width="160" height="160">\
            <rect width="60" height="60" fill="hsl(\(hue) 45% 92%)"/>\
            <path fill="hsl(\(hue) 60% 40%)" d="\(path.joined())"/></svg>
            """
    }

    /// Red, green and blue of the filled squares, 0 to 255 each, as in ``svg``.
    public var color: (red: Int, green: Int, blue: Int) {
        // HSL to RGB as in CSS Color 4, section 7.1.
        func channel(_ n: Double) -> Int {
            let k = (n + Double(hue) / 30).truncatingRemainder(dividingBy: 12)
            let (saturation, lightness) = (0.6, 0.4)
            let value = lightness - saturation * min(lightness, 1 - lightness) * max(-1, min(k - 3, 9 - k, 1))
            return Int((value * 255).rounded())
        }
        return (channel(0), channel(8), channel(4))
    }
}
