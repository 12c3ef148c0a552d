"""An agent without a model, as a service: Canonical Lifecycle Events v1 as NDJSON. Python 3.11, standard library only."""

import json
import re
import sys
import threading
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_LIMIT_BYTES = 4 * 1024 * 1024
WAITING = {}
CANCELLED = set()
LOCK = threading.Lock()


class Stream:
    """Gives each event its envelope and sends it at once."""

    def __init__(self, request, out):
        self.ids = {"run_id": request["run_id"], "conversation_id": request["conversation_id"]}
        self.out = out
        self.sequence = 0

    def say(self, kind, **data):
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        event = {"version": 1, "type": kind, **self.ids, "sequence": self.sequence, "timestamp": now, "namespace": [], "data": data}
        self.sequence += 1
        self.out.write(json.dumps(event, ensure_ascii=False).encode() + b"\n")
        self.out.flush()

    def start(self):
        self.say("run.started", harness_id="calculator", adapter_version="1.0.0")

    def sentence(self, text):
        self.say("text.started", message_id="answer", role="assistant")
        for delta in re.findall(r"\S+\s*", text):
            self.say("text.delta", message_id="answer", delta=delta)
        self.say("text.finished", message_id="answer")

    def finish(self):
        self.say("run.finished", outcome="success", stop_reason="end_turn")


def run(stream, request):
    stream.start()
    product = re.search(r"(\d+)\s*[*x]\s*(\d+)", request["input"])
    if product is None:
        stream.sentence("Give me a product, such as 12 * 7.")
        return stream.finish()
    stream.sentence(f"You want {product[0]}.")
    with LOCK:
        is_cancelled = request["run_id"] in CANCELLED
    if is_cancelled:
        return stream.say("run.cancelled", reason="client_request", side_effect_status="none")
    call = {"tool_call_id": f"multiply-{request['run_id']}", "tool_name": "multiply"}
    args = {"factors": [int(product[1]), int(product[2])]}
    interrupt = f"ask-{request['run_id']}"
    with LOCK:
        WAITING[interrupt] = {**call, "arguments": args}
    stream.say("tool.started", **call, arguments=args)
    approval = {**call, "tool_args": args, "allowed_decisions": ["approve", "edit", "reject"]}
    stream.say(
        "interrupt.requested",
        interrupt_id=interrupt,
        interrupt_type="tool_approval",
        agent_id="calculator",
        tool_approvals=[approval],
    )
    stream.say("run.interrupted", interrupt_id=interrupt, reason="tool_approval")


def resume(stream, request):
    stream.start()
    with LOCK:
        call = WAITING.pop(request["interrupt_id"], None)
    if call is None:
        message = "the question is not known"
        return stream.say("run.error", code="unknown_interrupt", message=message, retryable=False, side_effect_status="none")
    stream.say("tool.started", **call)
    decision = request["resume"]["decisions"][0]
    if decision["decision"] == "reject":
        message = "a person said no"
        stream.say("tool.error", tool_call_id=call["tool_call_id"], code="rejected", message=message, retryable=False)
        stream.sentence("Then I leave it.")
    else:
        factors = decision.get("edited_args", call["arguments"])["factors"]
        result = 1
        for factor in factors:
            result *= factor
        stream.say("tool.finished", tool_call_id=call["tool_call_id"], result=str(result))
        stream.sentence(f"It is {result}.")
    stream.finish()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("content-length", "0"))
        if length > BODY_LIMIT_BYTES:
            return self.send_error(413)
        request = json.loads(self.rfile.read(length))
        if self.path == "/runs":
            return self.stream(run, request)
        if self.path.startswith("/runs/") and self.path.endswith("/resume"):
            return self.stream(resume, request)
        if self.path.startswith("/runs/") and self.path.endswith("/cancel"):
            with LOCK:
                CANCELLED.add(request["run_id"])
                WAITING.pop(f"ask-{request['run_id']}", None)
            self.send_response(204)
            return self.end_headers()
        self.send_error(404)

    def stream(self, answer, request):
        self.send_response(200)
        self.send_header("content-type", "application/x-ndjson")
        self.end_headers()
        try:
            answer(Stream(request, self.wfile), request)
        except (BrokenPipeError, ConnectionResetError):
            pass  # nobody reads any more

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 8090), Handler)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
