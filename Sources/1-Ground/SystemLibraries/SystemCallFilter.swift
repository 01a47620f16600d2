import CLibrary

/// A filter of the system calls of this process, and of those that it starts (seccomp(2)).
package struct SystemCallFilter {
    /// What is said of one system call.
    package struct Rule {
        var number: UInt32
        /// Any of these, each of which is several conditions; nil for a rule without.
        var alternatives: [[Condition]]?
        /// Whether the call is refused, and not allowed, if any of these holds.
        var isExcluding = false

        /// - Parameters:
        ///   - x86: The call's number on x86-64 (asm/unistd_64.h).
        ///   - arm: Its number on AArch64 (asm-generic/unistd.h), which lacks some old calls.
        ///   - alternatives: When the call is allowed: if all conditions of any of these hold. Nil for what the whole
        ///     filter says of its rules.
        /// - Returns: Nil where the machine does not have the call.
        package init?(x86: UInt32, arm: UInt32?, allowedIf alternatives: [[Condition]]? = nil) {
            #if arch(x86_64)
            number = x86
            #elseif arch(arm64)
            guard let arm else { return nil }
            number = arm
            #else
            return nil
            #endif
            self.alternatives = alternatives
        }
    }

    /// What is refused of a system call that is allowed otherwise.
    ///
    /// - Parameter alternatives: When it is refused: if all conditions of any of these hold.
    /// - Returns: Nil where the machine does not have the call.
    package static func rule(x86: UInt32, arm: UInt32?, refusedIf alternatives: [[Condition]]) -> Rule? {
        var rule = Rule(x86: x86, arm: arm, allowedIf: alternatives)
        rule?.isExcluding = true
        return rule
    }

    /// What an argument has to be.
    package struct Condition {
        var argument: UInt32
        var mask: UInt32
        var value: UInt32

        /// - Parameter argument: Counted from 0. Its low 32 bits are looked at.
        package init(argument: UInt32, mask: UInt32 = .max, is value: UInt32) {
            (self.argument, self.mask, self.value) = (argument, mask, value)
        }
    }

    private var program: [Instruction] = []

    /// Allows every call but these.
    package init(refusing rules: [Rule?]) { self.init(rules, areAllowed: false) }

    /// Refuses every call but these.
    package init(allowing rules: [Rule?]) { self.init(rules, areAllowed: true) }

    private init(_ rules: [Rule?], areAllowed: Bool) {
        // Offsets in `struct seccomp_data`: number 0, architecture 4, arguments 16.
        program = [
            Instruction(code: Self.load, operand: 4),
            Instruction(code: Self.equal, jumpIfTrue: 1, operand: Self.architecture),
            Instruction(code: Self.answer, operand: Self.kill),
            Instruction(code: Self.load, operand: 0),
        ]
        #if arch(x86_64)
        // The x32 calls have numbers of their own.
        program.append(Instruction(code: Self.atLeast, jumpIfFalse: 1, operand: 0x4000_0000))
        program.append(Instruction(code: Self.answer, operand: Self.refuse))
        #endif
        for rule in rules.compactMap(\.self) {
            var body: [Instruction] = []
            let then = rule.isExcluding ? Self.refuse : Self.allow
            for conditions in rule.alternatives ?? [] { body += Self.answering(then, if: conditions) }
            let otherwise =
                rule.isExcluding || areAllowed && rule.alternatives == nil ? Self.allow : Self.refuse
            body.append(Instruction(code: Self.answer, operand: otherwise))
            let length = UInt8(clamping: body.count)
            program.append(Instruction(code: Self.equal, jumpIfFalse: length, operand: rule.number))
            program += body
        }
        program.append(Instruction(code: Self.answer, operand: areAllowed ? Self.refuse : Self.allow))
    }

    /// Answers a call for which all conditions hold, and goes on after that with another one.
    private static func answering(_ result: UInt32, if conditions: [Condition]) -> [Instruction] {
        var made: [Instruction] = []
        for (index, condition) in conditions.enumerated() {
            // Past the tests that follow, of three instructions each, and the answer.
            let rest = UInt8(clamping: 3 * (conditions.count - index - 1) + 1)
            made += [
                Instruction(code: load, operand: 16 + 8 * condition.argument),
                Instruction(code: and, operand: condition.mask),
                Instruction(code: equal, jumpIfFalse: rest, operand: condition.value),
            ]
        }
        return made + [Instruction(code: answer, operand: result)]
    }

    /// Puts the filter in force on all threads. It stays until the process ends; a further one can only refuse more.
    ///
    /// - Returns: 0, or another number with `errno` set.
    package func install() -> Int {
        guard Self.architecture != 0 else {
            errno = ENOTSUP
            return -1
        }
        var program = program
        return program.withUnsafeMutableBufferPointer { instructions in
            // `struct sock_fprog`: the number of instructions, and a pointer to them.
            var head = (UInt16(truncatingIfNeeded: instructions.count), instructions.baseAddress)
            // SECCOMP_SET_MODE_FILTER, on all threads (SECCOMP_FILTER_FLAG_TSYNC).
            return withUnsafeMutablePointer(to: &head) {
                systemCall(Self.seccomp, 1, 1, Int(bitPattern: $0), 0)
            }
        }
    }

    /// The filter as another program takes it, in instructions of `struct sock_filter`; nil where this type does not
    /// know the machine.
    package var bytes: [UInt8]? {
        Self.architecture == 0 ? nil : program.withUnsafeBytes { Array($0) }
    }

    /// `struct sock_filter` (linux/filter.h).
    private struct Instruction {
        var code: UInt16
        var jumpIfTrue: UInt8 = 0
        var jumpIfFalse: UInt8 = 0
        var operand: UInt32
    }

    // Of linux/bpf_common.h and linux/seccomp.h.
    private static let load: UInt16 = 0x20  // BPF_LD | BPF_W | BPF_ABS
    private static let equal: UInt16 = 0x15  // BPF_JMP | BPF_JEQ | BPF_K
    private static let atLeast: UInt16 = 0x35  // BPF_JMP | BPF_JGE | BPF_K
    private static let and: UInt16 = 0x54  // BPF_ALU | BPF_AND | BPF_K
    private static let answer: UInt16 = 0x06  // BPF_RET | BPF_K
    private static let allow: UInt32 = 0x7FFF_0000
    private static let refuse = 0x0005_0000 | UInt32(truncatingIfNeeded: EPERM)
    private static let kill: UInt32 = 0x8000_0000

    #if arch(x86_64)
    /// AUDIT_ARCH_X86_64 of linux/audit.h, and the number of seccomp(2).
    private static let (architecture, seccomp): (UInt32, Int) = (0xC000_003E, 317)
    #elseif arch(arm64)
    /// AUDIT_ARCH_AARCH64 of linux/audit.h, and the number of seccomp(2).
    private static let (architecture, seccomp): (UInt32, Int) = (0xC000_00B7, 277)
    #else
    private static let (architecture, seccomp): (UInt32, Int) = (0, 0)
    #endif
}
