/* Search from disk. Browsers start no worker from a file:// page, so there the search's worker runs in a hidden frame:
 * the same script, and messages are handed over as events. The theme's script knows of such frames by the name
 * IFrameWorker (it then finds its files from the frame's own script element). */
"use strict";
(() => {
  if (location.protocol !== "file:") return;

  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      const script = document.createElement("script");
      script.src = String(url);
      this.frame.srcdoc = `<!doctype html>${script.outerHTML}`;
      this.frame.addEventListener("load", () => {
        this.frame.contentWindow.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        this.ready = true;
        this.waiting.splice(0).forEach((data) => this.deliver(data));
      });
      document.body.append(this.frame);
    }

    postMessage(data) {
      if (this.ready) this.deliver(data);
      else this.waiting.push(data);
    }

    terminate() {
      this.frame.remove();
    }

    deliver(data) {
      setTimeout(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }
  }

  window.IFrameWorker = window.Worker = IFrameWorker;
})();
