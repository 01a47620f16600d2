// The only file of Sources that names the C library: which one it is depends on the system. FloorTests checks that.

#if canImport(Glibc)
@_exported import Glibc
#elseif canImport(Musl)
@_exported import Musl
#elseif canImport(Android)
@_exported import Android
#endif
