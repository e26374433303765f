// The state of the page in its address: `#1.` and the state as JSON, deflated, in the letters of base64url.

const VERSION = "1";
const LONGEST = 20_000; // characters of an address that are looked at
const LARGEST = 100_000; // bytes of a state

export class BadLink extends Error {}

async function through(bytes, transform, most = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
  const chunks = [];
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    if (size > most) {
      await reader.cancel();
      throw new BadLink("its network is too long");
    }
    chunks.push(read.value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

export async function encoded(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const packed = await through(bytes, new CompressionStream("deflate-raw"));
  const letters = btoa(String.fromCharCode(...packed));
  return `#${VERSION}.${letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

// The state of an address; null where it has none. `known` is a state in which every field has a value of the right type.
export async function decoded(address, known) {
  if (address.length < 2) return null;
  const found = /^#(\d{1,3})\.([\w-]+)$/.exec(address.slice(0, LONGEST + 1));
  if (!found || address.length > LONGEST) throw new BadLink("it is damaged, or cut");
  if (found[1] !== VERSION) throw new BadLink(`it is of version ${found[1]}, and this page reads version ${VERSION}`);
  let state;
  try {
    const letters = atob(found[2].replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const bytes = await through(packed, new DecompressionStream("deflate-raw"), LARGEST);
    state = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw error instanceof BadLink ? error : new BadLink("it is damaged, or cut");
  }
  const right = (key) => Object.hasOwn(known, key) && typeof state[key] === typeof known[key];
  if (state === null || typeof state !== "object" || Array.isArray(state) || !Object.keys(state).every(right)) {
    throw new BadLink("it holds something else than a network");
  }
  return { ...known, ...state };
}
