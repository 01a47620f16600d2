"""Loads a Secret Service with clients of its own, and checks every answer.

secrets_peer.py work CLIENTS ITEMS SECONDS   each client stores, finds, changes and deletes its own items
secrets_peer.py fuzz MESSAGES SEED           sends messages with changed bytes, and asks an honest question now and then
secrets_peer.py attack SECONDS               takes what a program with few rights can take; prints how often it did what
"""
import os, random, socket, struct, sys, time

import secretstorage

ADDRESS = os.environ['DBUS_SESSION_BUS_ADDRESS'].split('path=')[1].split(',')[0]


def client(number, items, seconds):
    generator = random.Random(number)
    connection = secretstorage.dbus_init()
    login = secretstorage.Collection(connection)
    mine = {}

    def attributes(index):
        return {'client': str(number), 'number': str(index)}

    def store(index):
        secret = generator.randbytes(generator.randrange(1, 200))
        login.create_item('Item', attributes(index), secret, replace=True)
        mine[index] = secret

    def check(index):
        found = [item.get_secret() for item in secretstorage.search_items(connection, attributes(index))]
        assert found == ([mine[index]] if index in mine else []), (number, index, found, mine.get(index))

    for index in range(items):
        store(index)
    end = time.time() + seconds
    count = 0
    while time.time() < end:
        index = generator.randrange(items)
        kind = generator.randrange(10)
        if kind < 2:
            store(index)
        elif kind == 2:
            for item in secretstorage.search_items(connection, attributes(index)):
                item.delete()
            mine.pop(index, None)
        else:
            check(index)
        count += 1
    for index in range(items):
        check(index)
    found = sum(1 for _ in secretstorage.search_items(connection, {'client': str(number)}))
    assert found == len(mine), (number, found, len(mine))
    return count


def work(clients, items, seconds):
    children = []
    for number in range(clients):
        child = os.fork()
        if child == 0:
            try:
                client(number, items, seconds)
                status = 0
            except BaseException as error:
                print(f'client {number}: {error!r}', file=sys.stderr, flush=True)
                status = 1
            os._exit(status)
        children.append(child)
    failed = sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children)
    print(f'{clients} clients, {failed} failed')


def connect(time=5):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(time)
    s.connect(ADDRESS)
    s.sendall(b'\0AUTH EXTERNAL ' + str(os.getuid()).encode().hex().encode() + b'\r\n')
    s.recv(1000)
    s.sendall(b'BEGIN\r\n')
    return s


def message(serial, path, interface, member, signature, body, destination=b'org.freedesktop.secrets'):
    def text(code, kind, value):
        sized = struct.pack('<B', len(value)) if kind == b'g' else struct.pack('<I', len(value))
        return bytes([code, 1]) + kind + b'\0' + sized + value + b'\0'

    fields = b''
    for field in [(1, b'o', path), (2, b's', interface), (3, b's', member), (6, b's', destination),
                  (8, b'g', signature)]:
        fields += b'\0' * (-len(fields) % 8) + text(*field)
    # Half of the callers want no answer.
    head = (b'l\1\1\1' if serial % 2 else b'l\1\0\1') + struct.pack('<III', len(body), serial, len(fields)) + fields
    return head + b'\0' * (-len(head) % 8) + body


def string(value):
    return struct.pack('<I', len(value)) + value + b'\0'


def aligned(*parts):
    body = b''
    for alignment, part in parts:
        body += b'\0' * (-len(body) % alignment) + part
    return body


def samples(session):
    root, service = b'/org/freedesktop/secrets', b'org.freedesktop.Secret.Service'
    login, collection = root + b'/collection/login', b'org.freedesktop.Secret.Collection'
    properties = b'org.freedesktop.DBus.Properties'
    pair = aligned((4, string(b'a')), (4, string(b'1')))
    yield root, service, b'SearchItems', b'a{ss}', struct.pack('<II', len(pair), 0) + pair
    yield root, service, b'OpenSession', b'sv', aligned((4, string(b'plain')), (1, b'\1s\0'), (4, string(b'')))
    key = bytes(range(1, 129))
    yield root, service, b'OpenSession', b'sv', aligned(
        (4, string(b'dh-ietf1024-sha256-aes128-cbc-pkcs7')), (1, b'\2ay\0'), (4, struct.pack('<I', 128) + key))
    yield root, service, b'Unlock', b'ao', struct.pack('<I', len(string(login))) + string(login)
    yield root, service, b'ReadAlias', b's', string(b'default')
    yield root, properties, b'GetAll', b's', string(service)
    yield login, properties, b'Get', b'ss', aligned((4, string(collection)), (4, string(b'Items')))
    yield login, collection, b'SearchItems', b'a{ss}', struct.pack('<II', len(pair), 0) + pair
    secret = aligned((4, string(session)), (4, struct.pack('<I', 0)), (4, struct.pack('<I', 2) + b'xy'),
                     (4, string(b'text/plain')))
    yield login, collection, b'CreateItem', b'a{sv}(oayays)b', aligned(
        (4, struct.pack('<II', 0, 0)), (8, secret), (4, struct.pack('<I', 0)))
    item, own = login + b'/61', b'org.freedesktop.Secret.Item'
    paths = lambda *texts: struct.pack('<I', len(aligned(*((4, string(t)) for t in texts)))) + aligned(
        *((4, string(t)) for t in texts))
    yield root, service, b'GetSecrets', b'aoo', aligned((4, paths(item, login)), (4, string(session)))
    yield root, service, b'Lock', b'ao', paths(session)
    yield root, service, b'SetAlias', b'so', aligned((4, string(b'fuzzed')), (4, string(login)))
    yield root, service, b'CreateCollection', b'a{sv}s', aligned((4, struct.pack('<II', 0, 0)), (4, string(b'login')))
    yield item, own, b'GetSecret', b'o', string(session)
    yield item, own, b'SetSecret', b'(oayays)', secret
    yield item, own, b'Delete', b'', b''
    yield item, properties, b'Set', b'ssv', aligned(
        (4, string(own)), (4, string(b'Label')), (1, b'\1s\0'), (4, string(b'changed')))
    yield root, b'org.freedesktop.DBus.Peer', b'Ping', b'', b''
    yield root + b'/session/none', b'org.freedesktop.Secret.Session', b'Close', b'', b''
    yield root + b'/prompt/p1', b'org.freedesktop.Secret.Prompt', b'Prompt', b's', string(b'')
    yield login, b'org.freedesktop.DBus.Introspectable', b'Introspect', b'', b''


def opened():
    """A connection and the path of a session of its own."""
    s = connect()
    body = aligned((4, string(b'plain')), (1, b'\1s\0'), (4, string(b'')))
    s.sendall(message(2, b'/org/freedesktop/secrets', b'org.freedesktop.Secret.Service', b'OpenSession', b'sv', body))
    answer = b''
    while b'/session/' not in answer:
        part = s.recv(1000)
        assert part, answer
        answer += part
    start = answer.rindex(b'/org/freedesktop/secrets/session/')
    return s, answer[start:answer.index(b'\0', start)]


def fuzz(count, seed):
    generator = random.Random(seed)
    s, session = opened()
    kinds = list(samples(session))
    serial, sent, connections = 2, 0, 1
    honest = secretstorage.dbus_init()
    secretstorage.Collection(honest).create_item('Honest', {'honest': '1'}, b'swordfish', replace=True)
    while sent < count:
        batch = b''
        for _ in range(generator.randrange(1, 40)):
            serial += 1
            sent += 1
            changed = bytearray(message(serial, *generator.choice(kinds)))
            # Mostly the body, because a changed length ends the connection.
            chance = generator.randrange(400)
            lowest = 0 if chance == 0 else 16 if chance < 20 else len(changed) * 2 // 3
            for _ in range(generator.randrange(4)):
                changed[generator.randrange(min(lowest, len(changed) - 1), len(changed))] = generator.randrange(256)
            batch += changed
        try:
            s.sendall(batch)
            s.setblocking(False)
            try:
                while s.recv(1 << 20):
                    pass
                raise OSError('closed')
            except BlockingIOError:
                pass
            s.settimeout(5)
        except OSError:
            s.close()
            s, session = opened()
            kinds, connections = list(samples(session)), connections + 1
        if generator.randrange(200) == 0:
            found = [i.get_secret() for i in secretstorage.search_items(honest, {'honest': '1'})]
            assert found == [b'swordfish'], found
            # Otherwise each search would look at ever more items that these messages have made.
            for collection in secretstorage.get_all_collections(honest):
                for item in collection.get_all_items():
                    if item.get_attributes() != {'honest': '1'}:
                        item.delete()
    found = [i.get_secret() for i in secretstorage.search_items(honest, {'honest': '1'})]
    assert found == [b'swordfish'], found
    print('the honest program was answered')
    print(f'{sent} messages on {connections} connections', file=sys.stderr)


def attack(seconds):
    generator = random.Random(1)
    root, service = b'/org/freedesktop/secrets', b'org.freedesktop.Secret.Service'
    login, item = root + b'/collection/login', b'org.freedesktop.Secret.Item'
    array = b'\1y\0\7' * ((2 << 18) - 200)
    paths = b''.join(string(login + b'%05d' % number) + b'\0' * 3 for number in range(20000))
    content = aligned(
        (4, struct.pack('<II', 0, 0)), (8, string(root + b'/session/s1')), (4, struct.pack('<I', 0)),
        (4, struct.pack('<I', 0)), (4, string(b'x' * 1000000)), (4, struct.pack('<I', 0)))

    def call(member, signature=b'', body=b'', path=root, interface=service):
        return message(2, path, interface, member, signature, body)

    attacks = {
        'no message': lambda: bytes(generator.randrange(256) for _ in range(400)),
        'announced': lambda: call(b'OpenSession')[:12] + struct.pack('<I', 100 << 20) + bytes(100000),
        'unread': lambda: call(b'Introspect', interface=b'org.freedesktop.DBus.Introspectable') * 20000,
        'changed': lambda: bytes(byte if generator.randrange(50) else generator.randrange(256)
                                 for byte in call(b'SearchItems', b'a{ss}', struct.pack('<II', 0, 0))),
        'sessions': lambda: call(b'OpenSession', b'sv', aligned(
            (4, string(b'plain')), (1, b'\1s\0'), (4, string(b'')))) * 500,
        'nested': lambda: call(b'CreateCollection', b'av', struct.pack('<I', len(array)) + array),
        'prompts': lambda: call(b'Unlock', b'ao', struct.pack('<I', len(paths)) + paths) * 16,
        'content types': lambda: call(
            b'CreateItem', b'a{sv}(oayays)b', content, root + b'/collection/session',
            b'org.freedesktop.Secret.Collection') * 20,
        'pings': lambda: call(b'Ping', interface=b'org.freedesktop.DBus.Peer') * 1000,
    }
    counts, kept = dict.fromkeys(attacks, 0), []
    end = time.time() + seconds
    while time.time() < end:
        kind = generator.choice(list(attacks))
        try:
            s = connect(0.3)
            kept.append(s)
            s.sendall(message(1, b'/org/freedesktop/DBus', b'org.freedesktop.DBus', b'Hello', b'', b'',
                              b'org.freedesktop.DBus'))
            counts[kind] += 1
            s.sendall(attacks[kind]())
        except OSError:
            pass
        while len(kept) > 200:
            kept.pop(0).close()
    print({kind for kind, count in counts.items() if count == 0} or 'every attack', file=sys.stderr)


if __name__ == '__main__':
    if sys.argv[1] == 'work':
        work(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    elif sys.argv[1] == 'fuzz':
        fuzz(int(sys.argv[2]), int(sys.argv[3]))
    else:
        attack(float(sys.argv[2]))
