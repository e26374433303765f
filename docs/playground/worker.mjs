// The worker: Pyodide with rnncalc and session.py in it. A message {id, call, args} calls a function of session.py.

import { load } from "./load.mjs";

const at = (name) => new URL(name, import.meta.url).href;

async function fetched(name) {
  const response = await fetch(at(name));
  if (!response.ok) throw new Error(`${name}: ${response.status} ${response.statusText}`);
  return response;
}

async function start() {
  const tell = (stage) => postMessage({ stage });
  tell("Loading Python (13 MB, kept by the browser)…");
  const { loadPyodide } = await import(at("pyodide/pyodide.mjs"));
  const [zip, session] = await Promise.all([
    fetched("rnncalc.zip").then((response) => response.arrayBuffer()),
    fetched("session.py").then((response) => response.text()),
  ]);
  const pyodide = await load(loadPyodide, new Uint8Array(zip), { indexURL: at("pyodide/") });
  tell("Starting rnncalc…");
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
