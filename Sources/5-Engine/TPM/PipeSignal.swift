import Glibc

/// Runs `body` without SIGPIPE for this thread.
///
/// The stack writes to a TPM behind a socket with `write`. If the other end is gone, the signal for that would end
/// the program; the error is enough.
package func withoutPipeSignal<Result>(_ body: () -> Result) -> Result {
    var pipe = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &pipe, &before)
    defer {
        // The signal is this thread's own: it waits here, unless it was ignored, and is taken.
        var pending = sigset_t()
        sigpending(&pending)
        if sigismember(&pending, SIGPIPE) == 1, sigismember(&before, SIGPIPE) == 0 {
            var now = timespec()
            sigtimedwait(&pipe, nil, &now)
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    return body()
}
