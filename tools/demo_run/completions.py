"""POST /v1/completions with http.client: one answer, with the time until its first token arrived."""
import dataclasses
import http.client
import json
import time


@dataclasses.dataclass
class Answer:
    status: int          # of HTTP; 0: no answer at all
    body: dict           # the parsed answer, or {"error": ...}
    ttft: float = 0.0    # seconds from sending to the first byte behind the head
    seconds: float = 0.0

    @property
    def cairn(self):
        return self.body["usage"]["cairn"]

    @property
    def tokens(self):
        """The ids of what was generated."""
        return self.cairn["completion_token_ids"]

    @property
    def span_tokens(self):
        return sum(span["tokens"] for span in self.cairn["spans"])

    @property
    def span_tokens_reused(self):
        return sum(span["tokens_reused"] for span in self.cairn["spans"])

    @property
    def error(self):
        error = self.body.get("error")
        return error.get("message", "") if isinstance(error, dict) else str(error)


def post(address, path, text, timeout=120, method="POST"):
    """(status, text) of any request."""
    connection = http.client.HTTPConnection(address, timeout=timeout)
    try:
        connection.request(method, path, text, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def get_json(address, path, timeout=30):
    status, text = post(address, path, None, timeout, "GET")
    if status != 200:
        raise OSError(f"GET {path} at {address}: HTTP {status}: {text[:200]}")
    return json.loads(text)


def _last_event(response):
    """The usage is in the last event before [DONE]; without [DONE] the stream was cut."""
    last, is_done = None, False
    for line in response:
        line = line.strip()
        if line == b"data: [DONE]":
            is_done = True
        elif line.startswith(b"data: "):
            last = json.loads(line[len(b"data: "):])
    if last is None or not is_done:
        raise OSError("the stream ended without [DONE]")
    return last


def complete(address, segments, max_tokens=32, timeout=120, **fields):
    """A greedy answer, streamed: that is how its first token can be timed. Never raises: status 0 says why in `error`."""
    request = {"segments": segments, "max_tokens": max_tokens, "temperature": 0, "stream": True,
               "stream_options": {"include_usage": True}, **fields}
    connection = http.client.HTTPConnection(address, timeout=timeout)
    begun = time.monotonic()
    try:
        connection.request("POST", "/v1/completions", json.dumps(request), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            return Answer(response.status, json.loads(response.read()))
        ttft = time.monotonic() - begun  # the head is sent with the first token
        body = _last_event(response)
        return Answer(200, body, ttft, time.monotonic() - begun)
    except (OSError, ValueError, http.client.HTTPException) as error:
        return Answer(0, {"error": {"message": f"{type(error).__name__}: {error}"}})
    finally:
        connection.close()
