// Starts Pyodide with the zip that bundle.py writes, in Node and in a browser alike.

export async function load(loadPyodide, zip, options = {}) {
  const pyodide = await loadPyodide(options);
  pyodide.unpackArchive(zip, "zip", { extractDir: "/site" });
  pyodide.runPython("import sys; sys.path.insert(0, '/site')");
  return pyodide;
}
