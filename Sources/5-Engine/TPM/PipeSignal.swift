import CLibrary

/// Runs `body` with SIGPIPE blocked for this thread.
///
/// The stack uses `write` for a TPM behind a socket. If the other end is closed, SIGPIPE would end the program. The
/// error of `write` is enough.
package func withoutPipeSignal<Result>(_ body: () -> Result) -> Result {
    var pipe = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &pipe, &before)
    defer {
        // The signal belongs to this thread. Unless it was ignored, it is pending here and is consumed.
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
