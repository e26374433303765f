// The workers: one that answers, and a spare one kept warm, so that a long computation can be stopped.

// A worker from a blob has the page's own Content-Security-Policy; one from a file would have none.
function newWorker() {
  const source = `import ${JSON.stringify(new URL("worker.mjs", import.meta.url).href)};`;
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  return new Worker(address, { type: "module" });
}

export class Stopped extends Error {}

export class Engine {
  #active;
  #spare = null;
  #number = 0;
  #waiting = new Map();
  #onStage;

  // onStage: called with what the first start waits for and the share that is done, and with "" when it is ready.
  constructor(onStage) {
    this.#onStage = onStage;
    this.#active = this.#started();
  }

  // The answer of a function of session.py. Rejects with Stopped when the computation is ended.
  ask(call, ...args) {
    const id = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#active.postMessage({ id, call, args });
    });
  }

  // Start the spare worker; the first one has done what it was started for, so that it is not delayed.
  keepSpare() {
    this.#spare ??= this.#started();
  }

  get busy() {
    return this.#waiting.size > 0;
  }

  // End what is being computed; the spare worker takes over.
  stop() {
    this.#active.terminate();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#active = this.#spare ?? this.#started();
    this.#spare = this.#started();
    for (const { reject } of waiting) reject(new Stopped());
  }

  #started() {
    const worker = newWorker();
    worker.onmessage = ({ data }) => this.#heard(worker, data);
    worker.onerror = (event) => this.#heard(worker, { failed: event.message || "the worker did not start" });
    return worker;
  }

  #heard(worker, { stage, share, ready, failed, id, result }) {
    const waiting = this.#waiting.get(id);
    if (waiting) {
      this.#waiting.delete(id);
      if (failed === undefined) waiting.resolve(result);
      else waiting.reject(new Error(failed));
    } else if (worker === this.#active && id === undefined) {
      this.#onStage(ready ? "" : (stage ?? `This page could not start: ${failed}`), share);
    }
  }
}
