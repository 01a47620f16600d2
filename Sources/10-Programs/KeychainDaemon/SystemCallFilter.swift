import CLibrary
import SystemLibraries

extension SystemCallFilter {
    /// Forbids what the daemon never does and an intruder would do: start programs, look into other processes, use the
    /// network or change the system.
    static var ofDaemon: SystemCallFilter {
        SystemCallFilter(refusing: [
            Rule(x86: 59, arm: 221),  // execve
            Rule(x86: 322, arm: 281),  // execveat
            Rule(x86: 101, arm: 117),  // ptrace
            Rule(x86: 310, arm: 270),  // process_vm_readv
            Rule(x86: 311, arm: 271),  // process_vm_writev
            Rule(x86: 312, arm: 272),  // kcmp
            Rule(x86: 165, arm: 40),  // mount
            Rule(x86: 166, arm: 39),  // umount2
            Rule(x86: 155, arm: 41),  // pivot_root
            Rule(x86: 161, arm: 51),  // chroot
            Rule(x86: 272, arm: 97),  // unshare
            Rule(x86: 308, arm: 268),  // setns
            Rule(x86: 175, arm: 105),  // init_module
            Rule(x86: 313, arm: 273),  // finit_module
            Rule(x86: 176, arm: 106),  // delete_module
            Rule(x86: 246, arm: 104),  // kexec_load
            Rule(x86: 320, arm: 294),  // kexec_file_load
            Rule(x86: 321, arm: 280),  // bpf
            Rule(x86: 298, arm: 241),  // perf_event_open
            Rule(x86: 323, arm: 282),  // userfaultfd
            Rule(x86: 250, arm: 219),  // keyctl
            Rule(x86: 248, arm: 217),  // add_key
            Rule(x86: 249, arm: 218),  // request_key
            Rule(x86: 169, arm: 142),  // reboot
            Rule(x86: 167, arm: 224),  // swapon
            Rule(x86: 168, arm: 225),  // swapoff
            Rule(x86: 425, arm: 425),  // io_uring_setup
            Rule(x86: 304, arm: 265),  // open_by_handle_at
            Rule(x86: 135, arm: 92),  // personality
            Rule(x86: 279, arm: 239),  // move_pages
            Rule(x86: 438, arm: 438),  // pidfd_getfd
            // socket, of another family than that of Unix
            Rule(
                x86: 41, arm: 198,
                allowedIf: [[Condition(argument: 0, is: UInt32(truncatingIfNeeded: AF_UNIX))]]),
        ])
    }
}
