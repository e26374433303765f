// The page: what is typed goes to the engine, what the package answers is shown. It knows nothing of networks.

import { decoded, encoded } from "./address.mjs";
import { completions } from "./completion.mjs";
import { Engine, Stopped } from "./engine.mjs";

const START = {
  form: "flags",
  network: "-i 2 -l gru:2 -o 1 -T 3",
  convention: "",
  notation: "",
  steps: "",
  sizes: "",
  topology: "",
  views: "count",
  side: false,
  ask: "", // what an exercise asks for; of one also the ranges, a line each, and the seed
  vary: "",
  seed: "0",
};
const TITLES = {
  count: "Count",
  explain: "Explanation",
  unrolled: "Unrolled",
  cell: "Cell",
  growth: "Growth",
  work: "Worked by hand",
  cost: "Cost",
  training: "Training",
};
const VERDICT = "Your answer, judged"; // the title of a frame that needs no heading: the network is above it
const SETTINGS = ["convention", "notation", "steps", "sizes", "topology"];
const PAUSE = 60; // milliseconds without a key after which the network is counted
const WIDE = matchMedia("(min-width: 40rem)"); // a window that has room for all controls above the result
const LONG = 400; // milliseconds after which a computation can be stopped

const $ = (id) => document.getElementById(id);
const status = (text) => ($("status").textContent = text);
const engine = new Engine((stage, share) => {
  status(stage);
  $("loading").hidden = share === undefined;
  $("loading").value = share ?? 0;
});
let state = { ...START };
let offers = null;
let asked = 0; // the number of the last refresh, or change of the network: older answers are not shown
let followed = 0; // the number of the last link: an older one that is read later is not shown
let exercise = null; // the state of the exercise that is asked or was solved
let reading = null; // the model file that is read or shown

// What is on the page

function element(name, attributes = {}, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// A page of the package's, in a frame that runs no script, as high as what it holds. A screen reader hears nothing of a
// frame that appears, so all but a view, which a person chooses, is said beside it.
function framed(page, title) {
  const frame = element("iframe", { sandbox: "allow-same-origin", title });
  frame.addEventListener("load", () => {
    const root = frame.contentDocument.documentElement;
    const judged = title === VERDICT;
    root.style.fontSize = WIDE.matches ? "15px" : "14px";
    root.style.fontFamily = getComputedStyle(document.body).fontFamily;
    const padding = judged ? "0 1rem 1rem" : "1.25rem clamp(0.75rem, 3vw, 1.5rem)";
    root.querySelector("main")?.setAttribute("style", `display: flow-root; margin: 0; padding: ${padding}`);
    if (judged) for (const heading of root.querySelectorAll("h1, h1 + .subtitle")) heading.hidden = true;
    const fit = () => (frame.style.height = `${root.querySelector("main")?.scrollHeight ?? root.scrollHeight}px`);
    new ResizeObserver(fit).observe(root);
    fit();
    if (!frame.closest("#shown")) $("said").textContent = root.innerText;
  });
  frame.srcdoc = page;
  return frame;
}

function wrong(lines) {
  const list = element("ul", { class: "bad" });
  list.append(...lines.map((line) => element("li", {}, line)));
  return list;
}

const filled = (answer, title) => (answer.page === undefined ? wrong(answer.problems) : framed(answer.page, title));

function options(id, words, titles = {}) {
  $(id).append(...words.map((word) => element("option", { value: word }, titles[word] ?? word)));
}

// From the state to the page

// What a result on the page is about: one that comes after a change of it is not shown.
const subject = () => JSON.stringify(question());
const question = (link = state) => ({ ...settings(link), ask: link.ask, vary: link.vary, seed: link.seed });
const settings = (link = state) => Object.fromEntries(["form", "network", ...SETTINGS].map((key) => [key, link[key]]));
const shownViews = () => state.views.split(" ").filter((view) => offers.views.includes(view));

function show() {
  $("network").value = state.network;
  for (const key of SETTINGS) {
    $(key).value = state[key];
    if ($(key).value !== state[key]) state[key] = $(key).value = "";
  }
  document.querySelector(`input[name=form][value=${state.form === "yaml" ? "yaml" : "flags"}]`).checked = true;
  $("side").checked = state.side;
  const own = state.form === "yaml" ? "(from the spec)" : "(from the flags)";
  for (const option of document.querySelectorAll("#settings option[value='']")) option.textContent = own;
  $("steps").placeholder = own;
  const example = examples.findIndex(({ text }) => state.form === "yaml" && text === state.network);
  $("example").value = example < 0 ? "" : example;
  const asking = state.ask !== "";
  document.body.classList.toggle("asking", asking);
  document.body.classList.toggle("solving", exercise !== null);
  document.body.classList.toggle("flags", state.form !== "yaml");
  document.body.classList.toggle("side", state.side);
  $("reveal").hidden = !asking;
  $("renew").hidden = !exercise?.vary;
  $("network").readOnly = $("settings").disabled = asking;
  $("network").rows = state.form === "yaml" ? 9 : 1;
  for (const button of $("views").children) {
    button.setAttribute("aria-pressed", String(shownViews().includes(button.value)));
  }
  numberLines([]);
}

function numberLines(problems) {
  const marked = new Set(problems.map((problem) => problem.line));
  const lines = state.network.split("\n").map((_, place) => {
    const line = element("span", marked.has(place + 1) ? { class: "bad" } : {}, `${place + 1}\n`);
    return line;
  });
  $("lines").replaceChildren(...lines);
  $("lines").scrollTop = $("network").scrollTop;
}

function showProblems(problems) {
  numberLines(problems);
  $("problems").replaceChildren(
    ...problems.map((problem) => {
      const { line, text = problem } = problem;
      const item = element("li");
      const button = element("button", { type: "button" }, text);
      button.addEventListener("click", () => goTo(line));
      item.append(line ? button : element("span", {}, text));
      return item;
    }),
  );
  $("network").setAttribute("aria-invalid", String(problems.length > 0));
}

function goTo(line) {
  const before = state.network.split("\n").slice(0, line - 1);
  const place = before.reduce((sum, text) => sum + text.length + 1, 0);
  $("network").focus();
  $("network").setSelectionRange(place, place + state.network.split("\n")[line - 1].length);
}

// From the page to the engine and back

async function ask(...call) {
  const offer = setTimeout(() => ($("stop").hidden = false), LONG);
  try {
    return await engine.ask(...call);
  } catch (error) {
    if (error instanceof Stopped) return { problems: ["Stopped."] };
    return { problems: [`This failed: ${error.message}`] };
  } finally {
    clearTimeout(offer);
    if (!engine.busy) $("stop").hidden = true;
  }
}

// Show what the state gives. What a later change has overtaken is not shown.
async function refresh() {
  const own = ++asked;
  $("shown").setAttribute("aria-busy", "true");
  history.replaceState(null, "", await encoded(changed()));
  if (state.ask) {
    const sheet = await ask("exercise", question());
    if (own !== asked) return;
    $("sheet").replaceChildren(filled(sheet, "The exercise"));
    $("fields").replaceChildren(...(sheet.fields ?? []).map(field));
    $("shown").setAttribute("aria-busy", "false");
    return;
  }
  const network = await ask("network", settings());
  if (own !== asked) return;
  showProblems(network.problems ?? []);
  if (!network.problems) $("total").textContent = `${network.total} parameters`;
  $("total").classList.toggle("earlier", network.problems !== undefined);
  for (const id of ["copy-spec", "copy-command", "copy-exercise"]) $(id).disabled = network.problems !== undefined;
  const pages = [];
  for (const view of network.problems ? [] : shownViews()) {
    const answer = await ask("show", settings(), view);
    if (own !== asked) return;
    pages.push(section(view, answer));
  }
  if (!network.problems) {
    $("shown").replaceChildren(...pages);
    $("shown").classList.toggle("side", pages.length > 1);
  }
  $("shown").classList.toggle("earlier", network.problems !== undefined); // beside a mistake stays what was there before it
  await program();
  if (own === asked) $("shown").setAttribute("aria-busy", "false");
}

// A field for one of the numbers that an exercise asks for.
function field(name) {
  const label = element("label", {}, `${name} `);
  label.append(element("input", { name, autocomplete: "off", maxlength: "200" }));
  return label;
}

// The answer that is typed: all in one, or a line for each field that is filled.
function typedAnswer() {
  const lines = [...$("fields").querySelectorAll("input")].filter(({ value }) => value.trim());
  return [$("answer").value, ...lines.map(({ name, value }) => `${name} = ${value}`)].join("\n").trim();
}

// While an answer is typed, the count is shown only to those who ask for it.
function withhold(hidden) {
  document.body.classList.toggle("answering", hidden);
  $("withheld").hidden = !hidden;
}

// Another network, or another setting: what was said of the earlier one goes. What refresh renews stays until then.
function forget() {
  asked++;
  exercise = null;
  document.body.classList.remove("solving");
  for (const id of ["judged", "sheet", "said", "fields"]) $(id).replaceChildren();
  $("renew").hidden = true;
  status("");
}

function section(view, answer) {
  const made = element("section", { "data-view": view, "aria-label": TITLES[view] ?? view });
  made.append(filled(answer, TITLES[view] ?? view));
  return made;
}

// The state without what is as at the start, for a short address.
const changed = () => Object.fromEntries(Object.entries(state).filter(([key, value]) => value !== START[key]));

let pause;
function soon() {
  $("shown").setAttribute("aria-busy", "true");
  clearTimeout(pause);
  pause = setTimeout(refresh, PAUSE);
}

async function judge(event) {
  event.preventDefault();
  const answer = typedAnswer();
  if (!answer) return;
  const about = subject();
  const verdict = await (exercise ? ask("hint", question(exercise), answer) : ask("judge", settings(), answer));
  if (about !== subject()) return;
  withhold(false);
  if (verdict.right && state.ask) await reveal(filled(verdict, VERDICT));
  else $("judged").replaceChildren(filled(verdict, VERDICT));
}

// Show the solution of an exercise, or the verdict of its correct answer, and its network in all views.
async function reveal(verdict) {
  const about = subject();
  $("shown").setAttribute("aria-busy", "true");
  const key = await ask("solution", question());
  if (about !== subject()) return;
  if (!key.problems) state = { ...state, ...settings(START), form: "yaml", network: key.yaml, ask: "", vary: "", seed: "0" };
  $("judged").replaceChildren(verdict ?? filled(key, "The solution"));
  show();
  if (!verdict) $("judged").focus(); // the button that had it is hidden now
  await refresh();
}

// The same exercise with other numbers.
async function renew() {
  const { seed, problems } = await ask("other", question(exercise));
  if (problems) status(problems.join(" "));
  else await restore({ ...exercise, seed }, "New numbers.");
}

async function program() {
  const about = subject();
  const target = $("target").value;
  const { text, problems = [] } = target && !state.ask ? await ask("export", settings(), target) : {};
  if (about !== subject()) return;
  $("program").textContent = text ?? problems.join("\n");
  $("program").hidden = !$("program").textContent;
  $("copy-program").hidden = !text;
}

async function readFile(file) {
  if (!file || state.ask) return;
  reading = file;
  $("use-draft").hidden = true;
  $("read").replaceChildren(element("p", {}, `Reading ${file.name}…`));
  $("drop").scrollIntoView({ block: "start" }); // it may have been dropped where the contents are out of sight
  const contents = await ask("read", file.name, new Uint8Array(await file.arrayBuffer()));
  if (file !== reading) return;
  $("read").replaceChildren(filled(contents, `What ${file.name} holds`));
  $("use-draft").hidden = contents.yaml === undefined;
  $("use-draft").onclick = () => use("yaml", contents.yaml);
}

async function writeAs(form) {
  $("shown").setAttribute("aria-busy", "true");
  const about = subject();
  const { yaml = state.network } = await ask("network", settings());
  if (about === subject()) use(form, form === "yaml" ? yaml : START.network);
  else show(); // it was changed meanwhile, in its earlier form
}

function use(form, network) {
  state = { ...state, form, network, convention: "", steps: "", sizes: "", topology: "" };
  forget();
  show();
  refresh();
}

// Suggestions

let offered = { from: 0, words: [], at: -1 };

function suggest() {
  const { value, selectionStart, selectionEnd } = $("network");
  const found = selectionStart === selectionEnd && offers ? completions(value, selectionStart, state.form, offers) : { words: [] };
  offered = { ...found, at: -1 };
  $("words").replaceChildren(
    ...found.words.map((word, place) => {
      const item = element("li", { role: "option", id: `word-${place}` }, word);
      item.addEventListener("mousedown", (event) => {
        event.preventDefault();
        take(place);
      });
      return item;
    }),
  );
  $("words").hidden = found.words.length === 0;
  $("network").setAttribute("aria-expanded", String(found.words.length > 0));
  point(-1);
}

function point(place) {
  offered.at = place;
  [...$("words").children].forEach((item, number) => item.setAttribute("aria-selected", String(number === place)));
  if (place < 0) $("network").removeAttribute("aria-activedescendant");
  else $("network").setAttribute("aria-activedescendant", `word-${place}`);
}

function take(place) {
  $("network").setRangeText(offered.words[place], offered.from, $("network").selectionStart, "end");
  typed();
}

function closeWords() {
  offered = { from: 0, words: [], at: -1 };
  $("words").hidden = true;
  $("network").setAttribute("aria-expanded", "false");
  point(-1);
}

function keyed(event) {
  const most = offered.words.length;
  if (!most) return;
  const steps = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in steps && (offered.at >= 0 || event.key === "ArrowDown")) point((offered.at + steps[event.key] + most) % most);
  else if (event.key === "Enter" && offered.at >= 0) take(offered.at);
  else if (event.key === "Escape") closeWords();
  else return;
  event.preventDefault();
}

function typed() {
  state.network = $("network").value;
  $("example").value = "";
  forget();
  numberLines([]);
  suggest();
  soon();
}

// What a person does

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    status("Copied.");
  } catch {
    status(`This browser does not let a page copy. Copy it from here: ${text}`);
  }
  button.focus();
}

async function copyNetwork(button, text) {
  const about = subject();
  const network = await ask("network", settings());
  if (about === subject() && !network.problems) await copy(button, await text(network));
}

const linkTo = async (more) => new URL(await encoded({ ...changed(), ...more }), location.href).href;

function listen() {
  $("network").addEventListener("input", typed);
  $("network").addEventListener("keydown", keyed);
  $("network").addEventListener("blur", closeWords);
  $("network").addEventListener("scroll", () => ($("lines").scrollTop = $("network").scrollTop));
  for (const key of SETTINGS) {
    $(key).addEventListener("input", () => {
      state[key] = $(key).value.trim();
      forget();
      soon();
    });
  }
  $("form").addEventListener("change", (event) => writeAs(event.target.value));
  $("example").addEventListener("change", (event) => use("yaml", examples[event.target.value].text));
  $("side").addEventListener("change", () => {
    state.side = $("side").checked;
    if (!state.side) state.views = shownViews()[0];
    show();
    refresh();
  });
  $("judging").addEventListener("submit", judge);
  $("judging").addEventListener("input", () => withhold(typedAnswer() !== ""));
  $("show-count").addEventListener("click", () => withhold(false));
  const widen = () => ($("more").open = WIDE.matches);
  WIDE.addEventListener("change", widen);
  widen();
  $("reveal").addEventListener("click", () => reveal());
  $("renew").addEventListener("click", renew);
  $("stop").addEventListener("click", () => engine.stop());
  $("target").addEventListener("change", program);
  $("copy-link").addEventListener("click", async (event) => copy(event.target, await linkTo({ ask: "" })));
  $("copy-exercise").addEventListener("click", (event) =>
    copyNetwork(event.target, ({ asked: network, ask }) => linkTo({ network, ask })),
  );
  $("copy-spec").addEventListener("click", (event) => copyNetwork(event.target, ({ yaml }) => yaml));
  $("copy-command").addEventListener("click", (event) => copyNetwork(event.target, ({ command }) => command));
  $("copy-program").addEventListener("click", (event) => copy(event.target, $("program").textContent));
  $("file").addEventListener("change", (event) => readFile(event.target.files[0]));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    readFile(event.dataTransfer.files[0]);
  });
  addEventListener("hashchange", follow); // a link followed on the page itself
}

function choose(view) {
  const views = shownViews();
  if (!state.side) state.views = view;
  else if (!views.includes(view)) state.views = [...views, view].join(" ");
  else if (views.length > 1) state.views = views.filter((other) => other !== view).join(" ");
  show();
  refresh();
}

async function follow() {
  const own = ++followed;
  let link = { ...START };
  let message = "";
  try {
    link = (await decoded(location.hash, START)) ?? link;
  } catch (error) {
    message = `The network of this link cannot be read: ${error.message}. This is an example instead.`;
  }
  if (link.ask) link.network = (await ask("network", settings(link))).asked ?? link.network; // without its answer
  if (own === followed) await restore(link, message);
}

// Show a state as if the page were opened with it: nothing that was there before stays.
function restore(link, message) {
  state = link;
  reading = null;
  forget();
  for (const id of ["answer", "target", "file"]) $(id).value = "";
  withhold(false);
  for (const id of ["shown", "program", "read", "total"]) $(id).replaceChildren();
  for (const id of ["program", "copy-program", "use-draft"]) $(id).hidden = true;
  status(message);
  if (state.ask) exercise = state;
  show();
  return refresh();
}

let examples = [];
const [about, specs] = await Promise.all([engine.ask("about"), fetch("examples.json").then((response) => response.json())]);
offers = about;
examples = specs;
examples.forEach(({ name }, place) => $("example").append(element("option", { value: place }, name)));
options("convention", offers.conventions);
options("notation", offers.notations);
options("topology", offers.topologies);
options("target", offers.targets);
for (const view of offers.views) {
  const button = element("button", { type: "button", value: view, "aria-pressed": "false" }, TITLES[view] ?? view);
  button.addEventListener("click", () => choose(view));
  $("views").append(button);
}
listen();
await follow();
document.querySelector("main").inert = false;
engine.keepSpare();
document.body.dataset.ready = "true";
