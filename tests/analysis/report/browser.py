"""A headless Chromium, spoken to in its DevTools protocol."""

import asyncio
import base64
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tornado.websocket import WebSocketClientConnection, websocket_connect

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_S = 300.0


def program() -> str | None:
    """The browser's program, if it is installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Page:
    """One page; every call waits for its answer.

    Attributes
    ----------
    complaints
        Errors that the page logged or that went uncaught.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, socket: WebSocketClientConnection) -> None:
        self._loop = loop
        self._socket = socket
        self._number = 0
        self.complaints: list[str] = []

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol; raise AssertionError when it fails."""
        return self._loop.run_until_complete(asyncio.wait_for(self._call(method, parameters), PATIENCE_S))

    async def _call(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        await self._socket.write_message(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            text = await self._socket.read_message()
            assert text is not None, "the browser has gone"
            answer = json.loads(text)
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self._listen(answer)

    def _listen(self, event: dict[str, Any]) -> None:
        if event.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(event["params"]["exceptionDetails"]))
        elif event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
            self.complaints.append(str(event["params"]["entry"]["text"]))
        elif event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] == "error":
            self.complaints.append(str(event["params"]["args"]))

    def open(self, path: Path, width: int = 1280, height: int = 900, *, touch: bool = False) -> None:
        """Open a file at a window size, and wait until the page says that it is ready."""
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.call("Page.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=touch)
        self.call("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + PATIENCE_S
        while self.evaluate("document.body && document.body.dataset.ready") != "yes":
            assert time.monotonic() < deadline, f"the page is not ready: {self.complaints}"
            time.sleep(0.1)

    def evaluate(self, expression: str) -> Any:
        """Value of a JavaScript expression; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Send a mouse event (``mouseMoved``, ``mousePressed``, ``mouseReleased``, ``mouseWheel``)."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def drag(self, x: float, y: float, to_x: float) -> None:
        """Press, move, release."""
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        for step in (0.5, 1.0):
            self.mouse("mouseMoved", x + step * (to_x - x), y, button="left", buttons=1)
        self.mouse("mouseReleased", to_x, y, button="left", clickCount=1)

    def screenshot(self, path: Path) -> None:
        """Save a picture of the window."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """Start a browser with a fresh profile folder, and end it."""
    name = program()
    assert name is not None
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "DevToolsActivePort").unlink(missing_ok=True)
    command = [name, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
    command += ["--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    loop = asyncio.new_event_loop()
    try:
        socket = loop.run_until_complete(_connect(profile))
        yield Page(loop, socket)
        socket.close()
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        loop.close()


async def _connect(profile: Path) -> WebSocketClientConnection:
    from tornado.httpclient import AsyncHTTPClient

    deadline = time.monotonic() + PATIENCE_S
    port_file = profile / "DevToolsActivePort"
    while not port_file.exists() or not port_file.read_text().strip():
        assert time.monotonic() < deadline, "the browser did not start"
        await asyncio.sleep(0.1)
    port = port_file.read_text().split()[0]
    answer = await AsyncHTTPClient().fetch(f"http://127.0.0.1:{port}/json/list")
    target = next(item for item in json.loads(answer.body) if item["type"] == "page")
    return await websocket_connect(target["webSocketDebuggerUrl"], max_message_size=100_000_000)
