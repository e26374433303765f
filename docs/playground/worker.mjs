// The worker: Pyodide with rnncalc and session.py in it. A message {id, call, args} calls a function of session.py.

import { load } from "./load.mjs";

const at = (name) => new URL(name, import.meta.url).href;

async function fetched(name) {
  const response = await fetch(at(name));
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return response;
}

const MEGABYTES = 15; // fetched before Python starts

// Tell the page what is loading, and which share of all is there; the bytes of every response are counted.
function count(tell) {
  const plain = fetch;
  let loaded = 0;
  const counted = () =>
    new TransformStream({
      transform(chunk, controller) {
        loaded += chunk.length;
        const megabytes = loaded / 1e6;
        tell(`Loading Python and rnncalc: ${megabytes.toFixed(0)} of ${MEGABYTES} MB, once…`, (0.5 * megabytes) / MEGABYTES);
        controller.enqueue(chunk);
      },
      flush: () => loaded > 0.95e6 * MEGABYTES && tell("Starting Python…", 0.6),
    });
  self.fetch = async (...args) => {
    const { body, headers, status, statusText } = await plain(...args);
    return new Response(body.pipeThrough(counted()), { headers, status, statusText });
  };
}

async function start() {
  const tell = (stage, share) => postMessage({ stage, share });
  tell("Loading Python…", 0);
  count(tell);
  const { loadPyodide } = await import(at("pyodide/pyodide.mjs"));
  const [zip, session] = await Promise.all([
    fetched("rnncalc.zip").then((response) => response.arrayBuffer()),
    fetched("session.py").then((response) => response.text()),
  ]);
  const pyodide = await load(loadPyodide, new Uint8Array(zip), { indexURL: at("pyodide/") });
  tell("Starting rnncalc…", 0.8);
  pyodide.FS.writeFile("/site/session.py", session);
  pyodide.FS.mkdirTree("/work");
  pyodide.FS.chdir("/work");
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
