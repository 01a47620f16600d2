extension UInt8 {
    /// The two hexadecimal digits of the byte, in ASCII.
    @inlinable
    package func hexadecimalDigits(uppercase: Bool = false) -> (high: UInt8, low: UInt8) {
        let letter: UInt8 = uppercase ? 0x41 - 10 : 0x61 - 10
        func digit(_ half: UInt8) -> UInt8 { half < 10 ? 0x30 + half : letter + half }
        return (digit(self >> 4), digit(self & 15))
    }

    /// The value of a hexadecimal digit in ASCII, of either case; nil for another character.
    @inlinable
    package init?(hexadecimalDigit digit: UInt8) {
        switch digit {
        case 0x30...0x39: self = digit - 0x30
        case 0x41...0x46: self = digit - 0x41 + 10
        case 0x61...0x66: self = digit - 0x61 + 10
        default: return nil
        }
    }
}

extension Sequence<UInt8> {
    /// The bytes as hexadecimal digits, two for each.
    @inlinable
    package func hexadecimal(uppercase: Bool = false) -> String {
        String(decoding: hexadecimalDigits(uppercase: uppercase), as: UTF8.self)
    }

    /// What ``hexadecimal(uppercase:)`` returns, in ASCII.
    @inlinable
    package func hexadecimalDigits(uppercase: Bool = false) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(2 * underestimatedCount)
        for byte in self {
            let pair = byte.hexadecimalDigits(uppercase: uppercase)
            digits.append(pair.high)
            digits.append(pair.low)
        }
        return digits
    }
}

extension Array where Element == UInt8 {
    /// The bytes that an even number of hexadecimal digits of either case stand for; nil for anything else.
    ///
    /// - Parameter digits: The digits in ASCII, such as the `utf8` of a string.
    @inlinable
    package init?(hexadecimal digits: some Collection<UInt8>) {
        guard digits.count.isMultiple(of: 2) else { return nil }
        self.init()
        reserveCapacity(digits.count / 2)
        var high: UInt8?
        for digit in digits {
            guard let value = UInt8(hexadecimalDigit: digit) else { return nil }
            if let first = high {
                append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
    }

    /// The bytes that an even number of lower-case hexadecimal digits stand for; nil for anything else.
    ///
    /// Upper-case digits are refused, so that there is one way to write a value.
    ///
    /// - Parameter digits: The digits in ASCII, such as the `utf8` of a string.
    @inlinable
    package init?(lowercaseHexadecimal digits: some Collection<UInt8>) {
        guard digits.allSatisfy({ !(0x41...0x46).contains($0) }) else { return nil }
        self.init(hexadecimal: digits)
    }
}

extension SecretBytes {
    /// The bytes that hexadecimal digits in ASCII stand for; nil for anything else.
    ///
    /// - Throws: An error if there is no locked memory.
    package convenience init?(hexadecimal digits: UnsafeRawBufferPointer) throws {
        guard !digits.isEmpty, digits.count.isMultiple(of: 2),
            digits.allSatisfy({ UInt8(hexadecimalDigit: $0) != nil })
        else { return nil }
        try self.init(count: digits.count / 2) { room in
            for index in room.indices {
                let (high, low) = (digits[2 * index], digits[2 * index + 1])
                room[index] = (UInt8(hexadecimalDigit: high) ?? 0) << 4 | (UInt8(hexadecimalDigit: low) ?? 0)
            }
        }
    }
}
