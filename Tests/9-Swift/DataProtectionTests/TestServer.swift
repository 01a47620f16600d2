import Foundation
import TestSupport
import Testing

/// An HTTP server in another process, with bodies of every kind.
final class TestServer: Sendable {
    // Safe: the one test that has this server uses the process from one thread at a time.
    nonisolated(unsafe) private let process: Worker
    private let port: Int

    init() throws {
        let server = try Worker(["-c", Self.program], command: "python3")
        port = server.readLine().flatMap { Int($0) } ?? 0
        process = server
    }

    func url(_ name: String) -> URL { URL(filePath: "/").appending(path: name).onServer(port) }

    func stop() {
        process.kill()
        process.wait()
    }

    /// How many requests there were.
    func requests() -> Int {
        process.cue()
        return process.readLine().flatMap { Int($0) } ?? -1
    }

    private static let program = #"""
        import http.server, os, socket, struct, sys, threading
        count = 0
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *_): pass
            def head(self, status=200, length=None, **fields):
                self.send_response(status)
                if length is not None: self.send_header("Content-Length", str(length))
                for name, value in fields.items(): self.send_header(name.replace("_", "-"), value)
                self.end_headers()
            def chunk(self, data): self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            def do_GET(self):
                global count
                count += 1
                name, body, mega = self.path[1:], b"the body", b"x" * (1 << 20)
                try:
                    if name == "small": self.head(length=len(body)); self.wfile.write(body)
                    elif name == "empty": self.head(length=0)
                    elif name == "moved": self.head(302, 0, Location="/small")
                    elif name == "chunked":
                        self.head(Transfer_Encoding="chunked")
                        for place in range(len(body)): self.chunk(body[place:place + 1])
                        self.chunk(b"")
                    elif name == "close":
                        self.close_connection = True
                        self.head(Connection="close"); self.wfile.write(body)
                    elif name == "big":
                        self.head(length=8 << 20)
                        for _ in range(8): self.wfile.write(mega)
                    elif name == "huge":
                        self.head(length=256 << 20)
                        for _ in range(256): self.wfile.write(mega)
                    elif name == "endless":
                        self.head(Transfer_Encoding="chunked")
                        while True: self.chunk(mega)
                    elif name == "broken": self.head(500, len(body)); self.wfile.write(body)
                    elif name == "cut":
                        self.close_connection = True
                        self.head(length=3 << 20); self.wfile.write(mega)
                    elif name == "cut-chunked":
                        self.close_connection = True
                        self.head(Transfer_Encoding="chunked"); self.chunk(mega)
                    elif name == "reset":
                        self.close_connection = True
                        self.head(length=3 << 20); self.wfile.write(mega); self.wfile.flush()
                        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        self.connection.close()
                    else: self.head(404, 4); self.wfile.write(b"none")
                except (BrokenPipeError, ConnectionResetError, ValueError): self.close_connection = True
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.handle_error = lambda *_: None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        for _ in sys.stdin: print(count, flush=True)
        """#
}

extension URL {
    fileprivate func onServer(_ port: Int) -> URL {
        var components = URLComponents()
        (components.scheme, components.host, components.port, components.path) = ("http", "127.0.0.1", port, path)
        return components.url ?? self
    }
}
