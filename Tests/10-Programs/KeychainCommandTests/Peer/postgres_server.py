"""A PostgreSQL server, as Debian has it, for log-ins through `keychain run --broker`.

    postgres_server.py FOLDER

It makes an authority, FOLDER/authority.pem, and another one, FOLDER/stranger.pem, and a server with a certificate for
db.example.test, which listens on 127.0.0.1 over TLS. SECRET in the environment is the password of the users `app`,
`old` (whose log-in is by md5), `plain` (by the password itself) and `open` (by nothing), and of the databases `shop` and
`other`. It prints its port. Each line of input is a command: `restart` or `stop`. It ends with its input.

PostgreSQL does not run as root: its folder is below /tmp, and its user is `nobody`.
"""
import glob, os, pwd, shutil, signal, socket, subprocess, sys, tempfile, time
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import broker_server

folder, secret = sys.argv[1], os.environ["SECRET"]
tools = sorted(glob.glob("/usr/lib/postgresql/*/bin") + ["/usr/pgsql/bin", "/usr/bin"],
               key=lambda path: os.path.exists(path + "/initdb"))[-1]
place = tempfile.mkdtemp(prefix="keychain-postgres-", dir="/tmp")
data = place + "/data"
account = pwd.getpwnam("nobody") if os.getuid() == 0 else None


def become():
    if account:
        os.setgroups([])
        os.setgid(account.pw_gid)
        os.setuid(account.pw_uid)


def run(*words, text=""):
    done = subprocess.run(words, input=text, text=True, preexec_fn=become, cwd=place, capture_output=True,
                          env={"PATH": tools + ":/usr/bin:/bin", "LC_ALL": "C"})
    if done.returncode: sys.exit(f"{words}: {done.stdout}{done.stderr}")


broker_server.NAMES = ["db.example.test"]
broker_server.make_certificates(folder)
with open(folder + "/server.pem") as file: server = file.read()
os.rename(folder + "/authority.pem", folder + "/kept.pem")
broker_server.make_certificates(folder)
os.rename(folder + "/authority.pem", folder + "/stranger.pem")
os.rename(folder + "/kept.pem", folder + "/authority.pem")
if account: os.chown(place, account.pw_uid, account.pw_gid)
run(tools + "/initdb", "-D", data, "-U", "owner", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8")
with open(data + "/server.pem", "w") as file: file.write(server)
os.chmod(data + "/server.pem", 0o600)
if account: os.chown(data + "/server.pem", account.pw_uid, account.pw_gid)
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
with open(data + "/postgresql.conf", "a") as file: file.write(f"""
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{place}'
ssl = on
ssl_cert_file = 'server.pem'
ssl_key_file = 'server.pem'
password_encryption = 'scram-sha-256'
fsync = off
max_connections = 60
shared_buffers = 16MB
log_connections = on
""")
with open(data + "/pg_hba.conf", "w") as file: file.write("""
local all owner trust
hostssl all app 127.0.0.1/32 scram-sha-256
hostssl all old 127.0.0.1/32 md5
hostssl all plain 127.0.0.1/32 password
hostssl all open 127.0.0.1/32 trust
""")
log = open(folder + "/postgres.log", "w")


def start():
    global process
    process = subprocess.Popen([tools + "/postgres", "-D", data], preexec_fn=become, cwd=place, stdout=log, stderr=log,
                               env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    for _ in range(1_200):
        if subprocess.run([tools + "/pg_isready", "-q", "-h", place, "-p", str(port)]).returncode == 0: return
        if process.poll() is not None: break
        time.sleep(0.05)
    sys.exit("the server does not begin: " + open(folder + "/postgres.log").read())


def stop():
    process.send_signal(signal.SIGQUIT)
    process.wait()


try:
    start()
    quoted = secret.replace("'", "''")
    lines = "".join(f"CREATE ROLE {name} LOGIN PASSWORD '{quoted}';\n" for name in ["app", "plain", "open"])
    lines += f"SET password_encryption = 'md5'; CREATE ROLE old LOGIN PASSWORD '{quoted}';\n"
    lines += "CREATE DATABASE shop OWNER app;\nCREATE DATABASE other OWNER app;\n"
    run(tools + "/psql", "-qX", "-v", "ON_ERROR_STOP=1", "-h", place, "-p", str(port), "-U", "owner", "postgres",
        text=lines)
    print(port, flush=True)
    for line in sys.stdin:
        if line.strip() in ["restart", "stop"]: stop()
        if line.strip() == "restart": start()
        with open(folder + "/done", "a") as file: file.write(line)
    stop()
finally:
    shutil.rmtree(place, ignore_errors=True)
