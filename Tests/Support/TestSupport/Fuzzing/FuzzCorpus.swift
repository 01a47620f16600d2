import Foundation

/// Keeps valid samples and accepted inputs that were made from them, and makes the next input.
struct FuzzCorpus {
    private static let limit = 400
    private static let longest = 1 << 16

    let samples: [Data]
    private var kept: [Data]
    /// Numbers at which lengths, counts and tags often go wrong.
    private static let numbers: [UInt64] = [
        0, 1, 2, 4, 8, 16, 31, 32, 33, 64, 0x7F, 0x80, 0x81, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0xFF_FFFF,
        0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x1_0000_0000, 0x7FFF_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000, .max,
    ]

    init(_ samples: [Data]) {
        self.samples = samples
        kept = samples
    }

    /// Keeps an accepted input, which replaces an earlier accepted one if there is no room. Samples stay.
    mutating func keep(_ input: Data, _ random: inout SeededGenerator) {
        guard input.count <= Self.longest else { return }
        if kept.count < samples.count + Self.limit {
            kept.append(input)
        } else {
            kept[samples.count + random.int(below: Self.limit)] = input
        }
    }

    private func any(_ random: inout SeededGenerator) -> Data {
        // Makes half of the inputs from samples, so that accepted inputs do not drift away from them.
        random.int(below: 2) == 0 ? samples[random.int(below: samples.count)] : kept[random.int(below: kept.count)]
    }

    mutating func next(_ random: inout SeededGenerator) -> Data {
        var input = any(&random)
        for _ in 0...[0, 0, 0, 1, 2, 4][random.int(below: 6)] {
            input = changed(input, &random)
            if input.count > Self.longest { input = input.prefix(Self.longest) }
        }
        return Data(input)
    }

    private func changed(_ input: Data, _ random: inout SeededGenerator) -> Data {
        switch random.int(below: 8) {
        case 0, 1: return random.mutated(input)
        case 2: return spliced(input, any(&random), &random)
        case 3: return withNumber(input, &random)
        case 4: return withPart(of: any(&random), in: input, &random)
        default:
            guard var tree = DERTree(input) else { return withNumber(input, &random) }
            tree.change(&random, other: DERTree(any(&random)))
            return tree.encoded
        }
    }

    /// Joins the beginning of one input and the end of another, often at the same offset.
    private func spliced(_ one: Data, _ other: Data, _ random: inout SeededGenerator) -> Data {
        let cut = random.int(below: one.count + 1)
        let from = random.int(below: 2) == 0 ? min(cut, other.count) : random.int(below: other.count + 1)
        return Data(one.prefix(cut)) + other.dropFirst(from)
    }

    /// Overwrites bytes with a number of one to eight bytes, or changes the number there a little.
    private func withNumber(_ input: Data, _ random: inout SeededGenerator) -> Data {
        var bytes = [UInt8](input)
        let width = [1, 1, 2, 4, 4, 8][random.int(below: 6)]
        guard bytes.count >= width else { return random.mutated(input) }
        let place = random.int(below: bytes.count - width + 1)
        var number = bytes[place..<(place + width)].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        switch random.int(below: 5) {
        case 4 where width == 8: number = random.realAtAnEdge().bitPattern
        case 0: number &+= UInt64(1 + random.int(below: 4))
        case 1: number &-= UInt64(1 + random.int(below: 4))
        case 2: number = UInt64(bytes.count - place - width)
        default: number = Self.numbers[random.int(below: Self.numbers.count)]
        }
        var written = (0..<width).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (width - 1 - $0))) }
        if random.int(below: 4) == 0 { written.reverse() }
        bytes.replaceSubrange(place..<(place + width), with: written)
        return Data(bytes)
    }

    /// Inserts a piece of another sample, or overwrites bytes with it.
    private func withPart(of other: Data, in input: Data, _ random: inout SeededGenerator) -> Data {
        guard !other.isEmpty else { return input }
        let start = random.int(below: other.count)
        let part = [UInt8](other.dropFirst(start).prefix(1 + random.int(below: 64)))
        var bytes = [UInt8](input)
        let place = random.int(below: bytes.count + 1)
        let end = random.int(below: 2) == 0 ? place : min(bytes.count, place + part.count)
        bytes.replaceSubrange(place..<end, with: part)
        return Data(bytes)
    }
}
