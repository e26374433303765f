// node run.mjs PYODIDE ZIP CHECKOUT [ARGUMENTS of pytest]: runs inside.py on a checkout, and ends with its exit code.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { load } from "../../docs/playground/load.mjs";

process.on("uncaughtException", (error) => {
  console.error(error.message); // Node itself would print a line of Pyodide's source before it, 500 kB long
  process.exit(1);
});

const [where, zip, checkout, ...args] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(where));
const env = { HOME: "/tmp", PYTHONDONTWRITEBYTECODE: "1", PYTEST_ADDOPTS: process.env.PYTEST_ADDOPTS ?? "" };
const pyodide = await load(loadPyodide, new Uint8Array(readFileSync(zip)), { env });
pyodide.FS.mkdirTree("/checkout");
pyodide.mountNodeFS("/checkout", checkout);
pyodide.runPython("import sys; sys.path.append('/checkout/tests/wasm')");
process.exit(pyodide.pyimport("inside").main(pyodide.toPy(args)));
