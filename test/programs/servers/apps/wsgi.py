"""Responds to every path; to /slow?ms=N after N milliseconds."""
import time
from urllib.parse import parse_qs


def app(environ, start_response):
    if environ["PATH_INFO"] == "/slow":
        time.sleep(int(parse_qs(environ["QUERY_STRING"]).get("ms", ["0"])[0]) / 1000)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "6")])
    return [b"hello\n"]
