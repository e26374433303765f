// The worker: Pyodide with rnncalc and session.py in it. A message {id, call, args} calls a function of session.py.

import sizes from "./sizes.mjs";

const TITLES = {
  "pyodide.asm.wasm": "Python",
  "python_stdlib.zip": "its standard library",
  "rnncalc.zip": "rnncalc",
};
const at = (name) => new URL(name, import.meta.url).href;
const tell = (stage, share) => postMessage({ stage, share });

// Fetch all files at once, before Pyodide asks for them, and tell the page which are still loading.
function fetchAll() {
  const plain = fetch;
  const total = Object.values(sizes).reduce((sum, size) => sum + size);
  const missing = new Set(Object.keys(sizes));
  let loaded = 0;
  function report() {
    const titles = [...missing].map((name) => TITLES[name.split("/").at(-1)]).filter(Boolean);
    const megabytes = `${(loaded / 1e6).toFixed(0)} of ${(total / 1e6).toFixed(0)} MB`;
    if (titles.length) tell(`Loading ${titles.join(", ")}: ${megabytes}, the first time only…`, (0.7 * loaded) / total);
    else tell("Starting Python…", 0.7);
  }
  async function counted(name) {
    const { body, headers, ok, status, statusText } = await plain(at(name));
    if (!ok) throw new Error(`${name}: ${status} ${statusText}`);
    const count = new TransformStream({
      transform(chunk, controller) {
        loaded += chunk.length;
        report();
        controller.enqueue(chunk);
      },
      flush() {
        missing.delete(name);
        report();
      },
    });
    return new Response(body.pipeThrough(count), { headers });
  }
  report();
  const responses = new Map(Object.keys(sizes).map((name) => [at(name), counted(name)]));
  self.fetch = (address, ...rest) => responses.get(String(address)) ?? plain(address, ...rest);
}

async function start() {
  fetchAll();
  const { loadPyodide } = await import(at("pyodide/pyodide.mjs"));
  const files = ["rnncalc.zip", "session.py"].map((name) => fetch(at(name)).then((response) => response.arrayBuffer()));
  const pyodide = await loadPyodide({ indexURL: at("pyodide/") });
  tell("Starting rnncalc…", 0.9);
  const [zip, session] = await Promise.all(files);
  pyodide.FS.mkdirTree("/work");
  pyodide.FS.chdir("/work");
  pyodide.FS.writeFile("/rnncalc.zip", new Uint8Array(zip));
  pyodide.FS.writeFile("/work/session.py", new Uint8Array(session));
  pyodide.runPython("import sys; sys.path[:0] = ['/work', '/rnncalc.zip']");
  const module = pyodide.pyimport("session");
  postMessage({ ready: true });
  return { pyodide, module };
}

const started = start();
started.catch((error) => postMessage({ failed: String(error.message ?? error) }));

onmessage = async ({ data: { id, call, args } }) => {
  const { pyodide, module } = await started;
  try {
    const given = args.map((each) => pyodide.toPy(each));
    const result = module[call](...given).toJs({ dict_converter: Object.fromEntries });
    postMessage({ id, result });
  } catch (error) {
    postMessage({ id, failed: String(error.message ?? error).trim().split("\n").at(-1) });
  }
};
