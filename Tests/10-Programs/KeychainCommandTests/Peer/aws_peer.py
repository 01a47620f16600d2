"""Amazon's own client for requests that `keychain run --broker` signs, and its own signer to check them.

    aws_peer.py ask SERVER       makes requests with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment
    aws_peer.py copy SERVER STYLE   copies an object of a bucket, and some of others; STYLE is path or virtual
    aws_peer.py check FILE ID    says for each request in FILE, of broker_server.py, whether SECRET signed it for ID

SERVER is HOST:PORT. Its answers are none of AWS, so the client fails after each request.
"""
import datetime, json, os, sys, urllib.parse, urllib.request
import boto3, botocore.auth, botocore.awsrequest, botocore.config, botocore.credentials, botocore.exceptions, botocore.parsers


def client_for(server, name, style="path", **others):
    settings = dict(retries={"max_attempts": 0}, connect_timeout=20, read_timeout=20, s3={"addressing_style": style})
    return boto3.client(name, region_name="eu-central-1", endpoint_url="https://" + server,
                        config=botocore.config.Config(**settings, **others))


def copy(server, style):
    # A client puts no shorter name into the host.
    found, bucket = [], "b" if style == "path" else "bucket"
    for source in [f"{bucket}/one", "other/one", f"{bucket}/b/one", f"public/{bucket}/one"]:
        try: client_for(server, "s3", style).copy_object(Bucket=bucket, Key="two", CopySource=source)
        except botocore.exceptions.ClientError as error: is_sent = error.response["ResponseMetadata"]["HTTPStatusCode"] != 403
        except botocore.parsers.ResponseParserError as error: is_sent = "keychain:" not in str(error)
        found.append(f"{source} {'sent' if is_sent else 'refused'}")
    print(style, ", ".join(found))


def ask(server):
    def client(name, **others): return client_for(server, name, **others)

    def attempt(call, **arguments):
        try:
            answer = call(**arguments)
            for part in {"Body", "Payload"} & set(answer): answer[part].read()
        except (botocore.exceptions.ClientError, botocore.exceptions.BotoCoreError): pass
        except botocore.parsers.ResponseParserError: pass
        except Exception as error: print(type(error).__name__, error)

    s3 = client("s3")
    attempt(s3.list_objects_v2, Bucket="a-bucket", Prefix="a b/ä+~(c)&=", MaxKeys=3)
    attempt(s3.get_object, Bucket="a-bucket", Key="a key/with ä+~(c)@!$'*,;=:.txt")
    attempt(s3.put_object, Bucket="a-bucket", Key="put", Body=b"content" * 1000, Metadata={"note": "a   b"})
    attempt(client("s3", request_checksum_calculation="when_required").put_object, Bucket="b", Key="p", Body=b"x" * 9)
    attempt(client("sts").get_caller_identity)
    attempt(client("dynamodb").get_item, TableName="t", Key={"id": {"S": "ä"}})
    attempt(client("lambda").invoke, FunctionName="arn:aws:lambda:eu-central-1:123456789012:function:a", Payload=b"{}")
    url = s3.generate_presigned_url("get_object", Params={"Bucket": "b", "Key": "k ä"}, ExpiresIn=86_400)
    # The signature must not come back: with it, the request could be sent again without the broker.
    print("masked", b"X-Amz-Signature=" + 64 * b"*" in urllib.request.urlopen(url).read())
    # None of these may be signed.
    credentials = boto3.Session().get_credentials().get_frozen_credentials()
    for kind in ["late", "changed", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"]:
        request = botocore.awsrequest.AWSRequest("PUT", f"https://{server}/{kind}", data=b"body", headers={
            **({"X-Amz-Content-SHA256": kind} if kind.isupper() else {})})
        signer = botocore.auth.SigV4Auth(credentials, "other", "eu-central-1")
        if kind == "late":
            # A signature to be used next week.
            week = datetime.timedelta(days=7)
            real = botocore.auth.get_current_datetime
            botocore.auth.get_current_datetime = lambda *a, **b: real(*a, **b) + week
            signer.add_auth(request)
            botocore.auth.get_current_datetime = real
        else:
            signer.add_auth(request)
        if kind == "changed": request.url += "?x=1"
        sent = urllib.request.Request(request.url, data=b"body", method="PUT", headers=dict(request.headers))
        try:
            answer = urllib.request.urlopen(sent)
            answer.read()
            print(kind, answer.status)
        except urllib.error.HTTPError as error: print(kind, error.code, error.read().decode().strip())


def check(path, identifier):
    credentials = botocore.credentials.Credentials(identifier, os.environ["SECRET"])
    for line in open(path):
        one = json.loads(line)
        headers = {name: value for name, value in one["headers"]}
        lower = {name.lower(): value for name, value in headers.items()}
        query = dict(urllib.parse.parse_qsl(one["target"].partition("?")[2]))
        given = lower.get("authorization", "")
        is_query = "X-Amz-Signature" in query
        if not given and not is_query: continue
        credential = query["X-Amz-Credential"] if is_query else given.split("Credential=")[1].split(",")[0]
        names = query["X-Amz-SignedHeaders"] if is_query else given.split("SignedHeaders=")[1].split(",")[0]
        _, _, region, service, _ = credential.split("/")
        target = one["target"]
        if is_query: target = target.replace("&X-Amz-Signature=" + query["X-Amz-Signature"], "")
        request = botocore.awsrequest.AWSRequest(
            one["method"], f"https://{one['host']}{target}", data=one["body"].encode("latin-1"),
            headers={name: one["host"] if name == "host" else lower[name] for name in names.split(";")})
        kind = botocore.auth.S3SigV4Auth if service == "s3" else botocore.auth.SigV4Auth
        signer = kind(credentials, service, region)
        request.context["timestamp"] = query.get("X-Amz-Date") or lower["x-amz-date"]
        text = canonical(signer, request, lower, is_query)
        to_sign = signer.string_to_sign(request, text)
        is_right = signer.signature(to_sign, request) == (query["X-Amz-Signature"] if is_query else given[-64:])
        expires = ["for", int(query["X-Amz-Expires"]) < 100] if is_query else []
        print(one["method"], service, credential.split("/")[0] == identifier, is_right, names.count(";") + 1, *expires)


def canonical(signer, request, lower, is_query):
    """As `canonical_request` of botocore, with the headers that were signed and the digest that was sent."""
    parts = urllib.parse.urlsplit(request.url)
    names = sorted(request.headers.keys())
    digest = "UNSIGNED-PAYLOAD" if is_query else lower.get("x-amz-content-sha256") or signer.payload(request)
    headers = "\n".join(f"{name}:{signer._header_value(request.headers[name])}" for name in names)
    return "\n".join([request.method, signer._normalize_url_path(parts.path), signer._canonical_query_string_url(parts),
                      headers + "\n", ";".join(names), digest])


if __name__ == "__main__":
    {"ask": ask, "copy": copy, "check": check}[sys.argv[1]](*sys.argv[2:])
