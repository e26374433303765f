// node compile.mjs OUT: compiles the Python of OUT/pyodide/python_stdlib.zip and OUT/rnncalc.zip with the Python of
// OUT/pyodide, so that no browser has to: a cold start then takes about a third of the time.

import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const out = resolve(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(`${out}/pyodide/pyodide.mjs`));
const pyodide = await loadPyodide({ env: { PYTHONNODEBUGRANGES: "1" } });
const compiled = pyodide.runPython(`
import importlib.util, marshal, zipfile

UNUSED = ("markdown_it", "mdurl", "pygments", "rich")  # what draws tables on a terminal

def compiled(source, optimize):
    with zipfile.ZipFile(source) as read, zipfile.ZipFile("compiled.zip", "w", zipfile.ZIP_DEFLATED) as written:
        for name in read.namelist():
            data = read.read(name)
            if name.endswith(".py"):
                code = compile(data, name, "exec", dont_inherit=True, optimize=optimize)
                name, data = f"{name}c", importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)
            if name.partition("/")[0] not in UNUSED and not name.endswith("/"):
                written.writestr(name, data)

compiled
`);
for (const [name, optimize] of [["pyodide/python_stdlib.zip", 2], ["rnncalc.zip", 0]]) {
  pyodide.FS.writeFile("source.zip", readFileSync(`${out}/${name}`));
  compiled("source.zip", optimize);
  writeFileSync(`${out}/${name}`, pyodide.FS.readFile("compiled.zip"));
}
