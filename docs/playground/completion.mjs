// What may be written at the caret of a network: words of the package, those that begin as the word there does.

const WORD = /[\w-]*$/;

// offers: what `about` of session.py returns. Returns {from, words}: the place where the word begins, and what may stand.
export function completions(text, caret, form, offers) {
  const before = text.slice(0, caret);
  const begun = WORD.exec(before)[0];
  const from = caret - begun.length;
  const words = (form === "yaml" ? inYaml : inFlags)(before.slice(0, from), text, caret, offers);
  const found = words.filter((word) => word.startsWith(begun) && word !== begun);
  return { from, words: found.slice(0, 8) };
}

function inFlags(before, text, caret, { kinds, conventions, topologies }) {
  const flag = /(?:^|\s)(-\S+)\s+$/.exec(before)?.[1];
  if (flag === "-c" || flag === "--convention") return conventions;
  if (flag === "--topology") return topologies;
  if (flag === "-l" || flag === "--layer") return Object.keys(kinds).map((kind) => `${kind}:`);
  const layer = /(?:^|\s)(\w+):[^\s,]*((?:,[\w]+(?:=[^\s,]*)?)*),(?:(\w+)=)?$/.exec(before);
  if (!layer || !Object.hasOwn(kinds, layer[1])) return [];
  const options = kinds[layer[1]];
  if (layer[3]) return options[layer[3]] ?? [];
  return Object.entries(options).map(([name, values]) => (values.includes("true") ? name : `${name}=`));
}

function inYaml(before, text, caret, { kinds, keys, conventions, topologies }) {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const value = /^\s*(?:- )?(\w+):\s+$/.exec(line)?.[1];
  const kind = nearest(before, kinds);
  if (value) return { convention: conventions, topology: topologies }[value] ?? kinds[kind]?.[value] ?? [];
  if (/^\s*- $/.test(line)) return Object.keys(kinds).map((name) => `${name}: `);
  if (/^\s+$/.test(line)) return Object.keys(kinds[kind] ?? {}).map((name) => `${name}: `);
  return line === "" && !/\s/.test(text[caret - 1] ?? "\n") ? keys.map((key) => `${key}: `) : []; // once a key is begun
}

// The kind of the layer above a place.
function nearest(before, kinds) {
  const found = [...before.matchAll(/^\s*- (\w+):/gm)].map((match) => match[1]);
  return found.reverse().find((word) => Object.hasOwn(kinds, word));
}
