// Starts Pyodide with rnncalc in it, from a zip that tests/wasm/bundle.py writes: in a browser's worker and in Node.

export async function load(loadPyodide, zip, options = {}) {
  const pyodide = await loadPyodide(options);
  pyodide.unpackArchive(zip, "zip", { extractDir: "/site" });
  pyodide.runPython("import sys; sys.path.insert(0, '/site')");
  return pyodide;
}
