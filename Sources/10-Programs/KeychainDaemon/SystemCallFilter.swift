import Bytes
import CLibrary
import VaultService

/// Forbids system calls that the daemon never makes and that an intruder would make: to start programs, look into other
/// processes, use the network or change the system (seccomp(2)).
enum SystemCallFilter {
    /// - Returns: 0, or -1 with `errno` set.
    static func install() -> Int {
        guard let table else {
            errno = ENOTSUP
            return -1
        }
        var program = filter(table)
        return program.withUnsafeMutableBufferPointer { instructions in
            // `struct sock_fprog`: the number of instructions, and a pointer to them.
            var head = (UInt16(truncatingIfNeeded: instructions.count), instructions.baseAddress)
            // SECCOMP_SET_MODE_FILTER, on all threads (SECCOMP_FILTER_FLAG_TSYNC).
            return withUnsafeMutablePointer(to: &head) {
                systemCall(table.seccomp, 1, 1, Int(bitPattern: $0), 0)
            }
        }
    }

    private struct Table {
        /// AUDIT_ARCH_… of linux/audit.h.
        var architecture: UInt32
        var seccomp: Int
        var socket: UInt32
        var refused: [UInt32]
    }

    private static var table: Table? {
        #if arch(x86_64)
        // execve, execveat, ptrace, process_vm_readv, process_vm_writev, kcmp, mount, umount2, pivot_root, chroot,
        // unshare, setns, init_module, finit_module, delete_module, kexec_load, kexec_file_load, bpf,
        // perf_event_open, userfaultfd, keyctl, add_key, request_key, reboot, swapon, swapoff, io_uring_setup,
        // open_by_handle_at, personality, move_pages, pidfd_getfd.
        Table(
            architecture: 0xC000_003E, seccomp: 317, socket: 41,
            refused: [
                59, 322, 101, 310, 311, 312, 165, 166, 155, 161, 272, 308, 175, 313, 176, 246, 320, 321, 298, 323,
                250, 248, 249, 169, 167, 168, 425, 304, 135, 279, 438,
            ])
        #elseif arch(arm64)
        Table(
            architecture: 0xC000_00B7, seccomp: 277, socket: 198,
            refused: [
                221, 281, 117, 270, 271, 272, 40, 39, 41, 51, 97, 268, 105, 273, 106, 104, 294, 280, 241, 282,
                219, 217, 218, 142, 224, 225, 425, 265, 92, 239, 438,
            ])
        #else
        nil
        #endif
    }

    /// `struct sock_filter` (linux/filter.h).
    private struct Instruction {
        var code: UInt16
        var jumpIfTrue: UInt8 = 0
        var jumpIfFalse: UInt8 = 0
        var operand: UInt32
    }

    private static func filter(_ table: Table) -> [Instruction] {
        let load: UInt16 = 0x20  // BPF_LD | BPF_W | BPF_ABS
        let equal: UInt16 = 0x15  // BPF_JMP | BPF_JEQ | BPF_K
        let atLeast: UInt16 = 0x35  // BPF_JMP | BPF_JGE | BPF_K
        let answer: UInt16 = 0x06  // BPF_RET | BPF_K
        let allow: UInt32 = 0x7FFF_0000
        let refuse = 0x0005_0000 | UInt32(truncatingIfNeeded: EPERM)
        let kill: UInt32 = 0x8000_0000
        // Offsets in `struct seccomp_data`: number 0, architecture 4, first argument 16 (its low half).
        var program: [Instruction] = [
            Instruction(code: load, operand: 4),
            Instruction(code: equal, jumpIfTrue: 1, operand: table.architecture),
            Instruction(code: answer, operand: kill),
            Instruction(code: load, operand: 0),
        ]
        #if arch(x86_64)
        // The x32 calls have numbers of their own.
        program.append(Instruction(code: atLeast, jumpIfFalse: 1, operand: 0x4000_0000))
        program.append(Instruction(code: answer, operand: refuse))
        #endif
        for number in table.refused {
            program.append(Instruction(code: equal, jumpIfFalse: 1, operand: number))
            program.append(Instruction(code: answer, operand: refuse))
        }
        program += [
            // Sockets of the Unix family only.
            Instruction(code: equal, jumpIfFalse: 3, operand: table.socket),
            Instruction(code: load, operand: 16),
            Instruction(code: equal, jumpIfTrue: 1, operand: UInt32(truncatingIfNeeded: AF_UNIX)),
            Instruction(code: answer, operand: refuse),
            Instruction(code: answer, operand: allow),
        ]
        return program
    }
}
