"use strict";
const STATES = ["success", "walltime reached", "killed", "failed"];
const STATE_COLOURS = ["#0072B2", "#D55E00", "#E69F00", "#CC79A7"];
const STORAGE = "#E69F00";
let MARGIN = 68; // left of the charts; wider where the names of lanes are longer
const byId = (name) => document.getElementById(name);
const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`); // of the page's style, light or dark

// ---------------------------------------------------------------- words
function span(seconds) {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60), days = Math.floor(minutes / 1440), hours = Math.floor(minutes / 60) % 24;
  return [days ? `${days} d` : "", hours ? `${hours} h` : "", minutes % 60 && !days ? `${minutes % 60} min` : ""].filter(Boolean).join(" ");
}
function clock(seconds) {
  const two = (value) => String(Math.floor(value)).padStart(2, "0");
  return `day ${Math.floor(seconds / 86400)}, ${two(seconds / 3600 % 24)}:${two(seconds / 60 % 60)}:${two(seconds % 60)}`;
}
function size(bytes) {
  for (const [unit, factor] of [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) if (bytes >= factor) return `${(bytes / factor).toPrecision(3)} ${unit}`;
  return `${bytes} B`;
}

// ---------------------------------------------------------------- elements: names from data only ever become text
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
const joined = (lines, between) => lines.flatMap((line, place) => (place ? [between(), ...line] : line));
const lineBreak = () => element("br");

// ---------------------------------------------------------------- tables
function sortTable(heading) {
  const table = heading.closest("table"), column = [...heading.parentNode.children].indexOf(heading);
  const down = heading.classList.contains("up");
  heading.parentNode.querySelectorAll("th").forEach((cell) => cell.classList.remove("up", "down"));
  heading.classList.add(down ? "down" : "up");
  const key = (row) => {
    const cell = row.children[column], marked = cell.dataset.value !== undefined ? cell : cell.querySelector("[data-value]");
    const number = parseFloat(marked ? marked.dataset.value : cell.textContent);
    return marked || !Number.isNaN(number) ? number : cell.textContent;
  };
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? (Number.isNaN(a) ? 1 : Number.isNaN(b) ? -1 : a - b) : String(a).localeCompare(String(b)));
  const rows = [...table.tBodies[0].rows].map((row, place) => [key(row), place, row]);
  rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]) || a[1] - b[1]);
  table.tBodies[0].append(...rows.map((entry) => entry[2]));
}
document.body.classList.add("sorts");
document.querySelectorAll("th").forEach((heading) => heading.addEventListener("click", () => sortTable(heading)));
byId("filter").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  document.querySelectorAll(".runs tbody tr").forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(wanted); });
});

// ---------------------------------------------------------------- charts
const view = { begin: 0, end: 1, whole: 1, colour: "wait", hover: null };
let runs = [], colours = null, userColours = new Map();
const charts = [];

function scaled(name, value) { // a step of the ramp, as in the pictures
  const { borders, zero } = colours.scales[name];
  if (zero && value <= 0) return colours.nothing;
  let place = 0;
  while (place < borders.length && value > borders[place]) place += 1;
  return colours.ramp[place];
}
const COLOURS = {
  wait: (run, job) => scaled("wait", run.start[job] - run.submit[job]),
  user: (run, job) => userColours.get(run.user[job]) || colours.nothing,
  size: (run, job) => scaled("size", run.size[job]),
  buffer: (run, job) => scaled("buffer", run.size[job] * run.bytes[job]),
  state: (run, job) => STATE_COLOURS[run.state[job]],
};
function nameUsers() { // those with most jobs in all schedules of the page, so that a user keeps the colour
  const counts = new Map();
  runs.forEach((run) => run.user.forEach((user) => { if (user) counts.set(user, (counts.get(user) || 0) + 1); }));
  const most = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, colours.palette.length);
  userColours = new Map(most.map(([user], place) => [user, colours.palette[place]]));
}
function steps(name) {
  const { names, zero } = colours.scales[name];
  return [...names.map((words, place) => [colours.ramp[place], words]), ...(zero ? [[colours.nothing, zero]] : [])];
}
function showKey() {
  const keys = {
    wait: () => [["", "waited:"], ...steps("wait")],
    user: () => (userColours.size ? [["", "user:"], ...[...userColours].map(([user, colour]) => [colour, user]), [colours.nothing, "others"]] : [["", "the log names no users"]]),
    size: () => [["", "nodes:"], ...steps("size")],
    buffer: () => [["", "burst buffer of the job:"], ...steps("buffer")],
    state: () => STATES.map((name, place) => [STATE_COLOURS[place], name]),
  };
  const mark = (colour) => { const made = element("i"); made.style.background = colour; return made; };
  byId("key").replaceChildren(...keys[view.colour]().map(([colour, name]) => element("span", {}, ...(colour ? [mark(colour)] : []), name)));
}

// ---------------------------------------------------------------- parts of a schedule, by their begin
class Parts { // resources of jobs: rows (a: first row, b: last row) or lanes (a: storage node, b and c: from and to in thousandths)
  constructor(run, packed, width, lives) {
    const count = packed.length / width;
    const begin = (part) => (lives.length ? lives[2 * part] : run.start[packed[part * width]]);
    const order = Uint32Array.from({ length: count }, (_, part) => part).sort((a, b) => begin(a) - begin(b) || a - b);
    this.count = count;
    this.job = new Int32Array(count); this.a = new Int32Array(count); this.b = new Int32Array(count); this.c = new Int32Array(count);
    this.begin = new Float64Array(count); this.end = new Float64Array(count); this.latest = new Float64Array(count);
    let latest = -Infinity;
    order.forEach((part, place) => {
      const at = part * width, job = packed[at];
      this.job[place] = job; this.a[place] = packed[at + 1]; this.b[place] = packed[at + 2]; this.c[place] = width > 3 ? packed[at + 3] : 0;
      this.begin[place] = begin(part);
      this.end[place] = lives.length ? lives[2 * part + 1] : run.finish[job];
      latest = Math.max(latest, this.end[place]);
      this.latest[place] = latest; // no part up to here ends later
    });
  }
  within(begin, end) { // the range of parts that can meet a time
    return [this.first((place) => this.latest[place] > begin), this.first((place) => this.begin[place] >= end)];
  }
  first(is) {
    let low = 0, high = this.count;
    while (low < high) { const middle = (low + high) >> 1; if (is(middle)) high = middle; else low = middle + 1; }
    return low;
  }
  of(job) {
    const found = [];
    for (let place = 0; place < this.count; place += 1) if (this.job[place] === job) found.push(place);
    return found;
  }
}

class Chart {
  constructor(place) {
    this.place = place;
    const canvases = [element("canvas", { className: "nodes", height: 260 }), element("canvas", { className: "lanes" })];
    this.box = element("div", { className: "chart" }, element("h3"), ...canvases);
    byId("charts").append(this.box);
    this.canvases = [...this.box.querySelectorAll("canvas")];
    this.canvases.forEach((canvas) => listen(canvas, this));
    this.run = null;
  }
  show(run) {
    this.run = run;
    this.box.hidden = !run;
    if (!run) return;
    if (!run.parts) run.parts = [new Parts(run, run.rows, 3, run.rowLives), new Parts(run, run.lanes, 4, run.laneLives)];
    const mark = element("i", { className: "mark" });
    mark.style.background = run.colour;
    this.box.querySelector("h3").replaceChildren(mark, run.label);
    this.canvases[1].hidden = run.storages.length === 0;
    this.heights = [window.innerWidth < 640 ? 200 : 280, Math.min(320, Math.max(60, 20 * run.storages.length)) + 24];
    this.colours = null;
  }
  draw() {
    if (!this.run || this.box.hidden) return;
    this.palette();
    this.canvases.forEach((canvas, kind) => { if (!canvas.hidden) this.drawOne(canvas, kind); });
  }
  palette() {
    if (this.colours && this.colouredBy === view.colour) return;
    this.colouredBy = view.colour;
    const colour = COLOURS[view.colour];
    this.colours = this.run.id.map((_, job) => colour(this.run, job));
  }
  frame(canvas, kind) {
    const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = this.heights[kind];
    canvas.style.height = `${height}px`;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return { context, width, bottom: height - 22, scale: (width - MARGIN) / (view.end - view.begin) };
  }
  drawOne(canvas, kind) {
    const { context, width, bottom, scale } = this.frame(canvas, kind), run = this.run;
    context.font = "11px system-ui, sans-serif";
    axis(context, width, bottom, scale);
    labels(context, run, kind, bottom, width);
    context.save();
    context.beginPath(); context.rect(MARGIN, 0, width - MARGIN, bottom); context.clip();
    const painted = new Int32Array(kind === 0 ? run.nodes + 1 : 21 * run.storages.length + 21).fill(-1);
    let last = "";
    this.each(kind, bottom, view.begin, view.end, (job, top, low, begin, end, place) => {
      const left = MARGIN + (begin - view.begin) * scale, right = MARGIN + (end - view.begin) * scale;
      if (right - left < 1) { // of all that begins here within one pixel, one is enough
        if (painted[place] === Math.floor(left)) return;
        painted[place] = Math.floor(left);
      }
      const wide = right - left > 3 ? 0.5 : 0, colour = this.colours[job];
      if (colour !== last) { context.fillStyle = colour; last = colour; }
      context.fillRect(left, top, Math.max(right - left - wide, 0.4), Math.max(low - top - (low - top > 3 ? 0.4 : 0), 0.4));
    });
    if (view.hover) this.outline(context, scale, kind, bottom);
    context.restore();
  }
  outline(context, scale, kind, bottom) {
    const run = this.run, job = run.id.indexOf(view.hover);
    if (job < 0) return;
    context.strokeStyle = ink("outline"); context.lineWidth = 2;
    this.each(kind, bottom, view.begin, view.end, (owner, top, low, begin, end) => {
      if (owner === job) context.strokeRect(MARGIN + (begin - view.begin) * scale, top, Math.max((end - begin) * scale, 2), low - top);
    });
  }
  each(kind, bottom, from, to, visit) { // parts that meet a time, with their places on the canvas
    const parts = this.run.parts[kind], [first, last] = parts.within(from, to);
    const unit = bottom / (kind === 0 ? this.run.nodes : this.run.storages.length), inner = 0.9 * unit / 1000;
    for (let part = first; part < last; part += 1) {
      const end = parts.end[part], a = parts.a[part];
      if (end <= from) continue;
      if (kind === 0) visit(parts.job[part], a * unit, (parts.b[part] + 1) * unit, parts.begin[part], end, a);
      else {
        const floor = (a + 0.95) * unit;
        visit(parts.job[part], floor - parts.c[part] * inner, floor - parts.b[part] * inner, parts.begin[part], end, 21 * a + Math.floor(parts.b[part] / 50));
      }
    }
  }
  at(canvas, x, y) {
    const kind = this.canvases.indexOf(canvas);
    const bottom = this.heights[kind] - 22, time = view.begin + (x - MARGIN) / (canvas.clientWidth - MARGIN) * (view.end - view.begin);
    const slack = 1.5 * (view.end - view.begin) / (canvas.clientWidth - MARGIN);
    let found = -1;
    this.each(kind, bottom, time - slack, time + slack, (job, top, low) => { if (y >= top && y < low) found = job; });
    return found;
  }
}

function axis(context, width, bottom, scale) {
  const spans = [1, 5, 15, 60, 300, 900, 3600, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 2592000, 7776000];
  const step = spans.find((candidate) => candidate * scale > (width < 640 ? 64 : 90)) || 31536000;
  context.strokeStyle = ink("grid"); context.fillStyle = ink("label"); context.lineWidth = 1; context.textAlign = "center";
  for (let time = Math.ceil(view.begin / step) * step; time <= view.end; time += step) {
    const x = Math.round(MARGIN + (time - view.begin) * scale) + 0.5;
    context.beginPath(); context.moveTo(x, 0); context.lineTo(x, bottom + 4); context.stroke();
    const text = step >= 86400 ? `day ${time / 86400}` : step >= 60 ? clock(time).slice(0, -3) : clock(time);
    if (x > MARGIN + 30 && x < width - 30) context.fillText(text, x, bottom + 16);
  }
}
function labels(context, run, kind, bottom, width) {
  const letters = ink("label"), lane = ink("lane");
  context.fillStyle = letters; context.textAlign = "right"; context.textBaseline = "middle";
  if (kind === 0) {
    const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find((candidate) => candidate * bottom / run.nodes > 26) || 10000;
    for (let node = 0; node < run.nodes; node += step) context.fillText(`node ${node}`, MARGIN - 6, Math.min(Math.max((node + 0.5) * bottom / run.nodes, 6), bottom - 6));
  } else {
    const unit = bottom / run.storages.length, skip = Math.ceil(13 / unit);
    run.storages.forEach((_, row) => {
      context.fillStyle = lane; context.fillRect(MARGIN, (row + 0.05) * unit, width - MARGIN, 0.9 * unit);
      context.fillStyle = STORAGE; context.fillRect(MARGIN - 3, (row + 0.05) * unit, 3, 0.9 * unit);
      context.fillStyle = letters; if (row % skip === 0) context.fillText(MARGIN < 124 ? `storage ${row}` : run.laneNames[row], MARGIN - 7, (row + 0.5) * unit);
    });
  }
  context.textBaseline = "alphabetic";
}

// ---------------------------------------------------------------- moving about
let pending = false;
function redraw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => { pending = false; charts.forEach((chart) => chart.draw()); });
}
function setView(begin, end) {
  const least = 10, length = Math.min(Math.max(end - begin, least), view.whole * 1.02);
  begin = Math.min(Math.max(begin, -0.01 * view.whole), view.whole * 1.01 - length);
  view.begin = begin; view.end = begin + length;
  redraw();
}
function zoom(factor, anchor = 0.5) {
  const length = view.end - view.begin, centre = view.begin + anchor * length;
  setView(centre - anchor * length * factor, centre + (1 - anchor) * length * factor);
}
function listen(canvas, chart) {
  const fingers = new Map();
  const part = (x) => (x - MARGIN) / (canvas.clientWidth - MARGIN);
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(event.deltaY * 0.0015), part(event.offsetX)); }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); fingers.set(event.pointerId, event.offsetX); });
  const lift = (event) => fingers.delete(event.pointerId);
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) { tip(chart, canvas, event); return; }
    const before = [...fingers.values()];
    fingers.set(event.pointerId, event.offsetX);
    const now = [...fingers.values()], width = canvas.clientWidth - MARGIN, length = view.end - view.begin;
    if (now.length === 1) setView(view.begin - (now[0] - before[0]) / width * length, view.end - (now[0] - before[0]) / width * length);
    else zoom(Math.max(Math.abs(before[0] - before[1]), 8) / Math.max(Math.abs(now[0] - now[1]), 8), part((now[0] + now[1]) / 2));
  });
  canvas.addEventListener("click", (event) => tip(chart, canvas, event));
  canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; if (view.hover) { view.hover = null; redraw(); } });
}
function tip(chart, canvas, event) {
  const job = chart.run ? chart.at(canvas, event.offsetX, event.offsetY) : -1, box = byId("tip");
  const id = job < 0 ? null : chart.run.id[job];
  if (id !== view.hover) { view.hover = id; redraw(); }
  box.hidden = job < 0;
  if (job < 0) return;
  box.replaceChildren(...joined([...story(chart.run, job), ...comparison(chart, id)], lineBreak));
  const x = Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 8), below = event.clientY + 16;
  box.style.left = `${Math.max(8, x)}px`;
  box.style.top = `${below + box.offsetHeight < window.innerHeight ? below : Math.max(8, event.clientY - box.offsetHeight - 12)}px`;
}
function ranges(pairs) { // [[0, 3], [7, 7]] in words: 0-3, 7; many are cut
  const shown = pairs.slice(0, 12).map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(", ");
  return pairs.length > 12 ? `${shown} and ${pairs.length - 12} more ranges` : shown;
}
function merged(pairs) {
  const found = [];
  pairs.sort((a, b) => a[0] - b[0]).forEach(([first, last]) => {
    const before = found[found.length - 1];
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last); else found.push([first, last]);
  });
  return found;
}
function nodesOf(run, job) {
  const parts = run.parts[0], pairs = merged(parts.of(job).map((part) => [parts.a[part], parts.b[part]]));
  return pairs.length ? `on node${pairs.length > 1 || pairs[0][0] < pairs[0][1] ? "s" : ""} ${ranges(pairs)}` : "";
}
function storageOf(run, job) {
  const parts = run.parts[1], places = [...new Set(parts.of(job).map((part) => parts.a[part]))].sort((a, b) => a - b);
  const names = places.slice(0, 6).map((row) => run.laneNames[row].replace("storage ", "") + (run.storages[row] === `storage ${row}` ? "" : ` (host ${run.storages[row]})`));
  return places.length ? `burst buffer on storage ${names.join(", ")}${places.length > 6 ? ` and ${places.length - 6} more` : ""}` : "";
}
function story(run, job) {
  const waited = run.start[job] - run.submit[job], [how, why] = (run.why[job] || "").split("|");
  const lines = [[element("b", {}, `job ${run.id[job]}`), run.user.length && run.user[job] ? `, user ${run.user[job]}` : ""]];
  const say = (text) => { if (text) lines.push([text]); };
  say(`${run.size[job]} node${run.size[job] > 1 ? "s" : ""}${run.bytes[job] ? `, ${size(run.bytes[job])} burst buffer each` : ""}${run.limit[job] > 0 ? `, requested ${span(run.limit[job])}` : ""}`);
  say(`submitted ${clock(run.submit[job])}`);
  say(`started ${clock(run.start[job])}${waited ? ` after ${span(waited)}` : " at once"}${how ? ` (${how})` : ""}`);
  say(`ended ${clock(run.finish[job])}, ran ${span(run.finish[job] - run.start[job])}: ${STATES[run.state[job]]}`);
  say(nodesOf(run, job));
  say(storageOf(run, job));
  if (why) say(`waited for: ${why}`);
  else if (waited && !run.why.length) say(`the reasons of its wait are not on record: spillway explain ${run.folder} ${run.id[job]}`);
  return lines;
}
function comparison(chart, id) {
  const other = charts.find((candidate) => candidate !== chart && candidate.run && candidate.run.group === chart.run.group);
  if (!other) return [];
  const job = other.run.id.indexOf(id);
  return job < 0 ? [] : [[`in the other schedule: after ${span(other.run.start[job] - other.run.submit[job])}`]];
}

// ---------------------------------------------------------------- start
async function unpack() {
  const text = atob(byId("data").textContent), bytes = Uint8Array.from(text, (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}
function choose() {
  const places = [byId("run-a").value, byId("run-b").value];
  charts.forEach((chart, place) => chart.show(places[place] === "" ? null : runs[Number(places[place])]));
  view.whole = Math.max(1, ...charts.filter((chart) => chart.run).map((chart) => chart.run.end));
  setView(view.begin, view.end);
}
function find(id) {
  const shown = charts.filter((chart) => chart.run), both = chartsOf(shown, id);
  if (!id) { byId("status").textContent = ""; return; }
  if (!both.length) { byId("status").textContent = absent(id, shown); return; }
  const { run } = both[0], job = run.id.indexOf(id), length = Math.max(4 * (run.finish[job] - run.start[job]), 600);
  view.hover = id;
  setView((run.start[job] + run.finish[job]) / 2 - length / 2, (run.start[job] + run.finish[job]) / 2 + length / 2);
  const stories = both.map((other) => [`${other.run.label}: `, ...joined(story(other.run, other.run.id.indexOf(id)), () => "; ")]);
  byId("status").replaceChildren(...joined(stories, lineBreak));
}
const chartsOf = (shown, id) => shown.filter((chart) => chart.run.id.includes(id));
function absent(id, shown) { // a hint with jobs that exist
  const elsewhere = runs.filter((run) => run.id.includes(id)), ids = shown.length ? shown[0].run.id : [];
  const hint = elsewhere.length ? `It ran in: ${elsewhere.slice(0, 3).map((run) => run.label).join("; ")}.` : `These have ${ids.length.toLocaleString("en")} jobs that ran, such as ${ids.slice(0, 3).join(", ")}; jobs that were rejected never ran.`;
  return `There is no job ${id} in these schedules. ${hint}`;
}
async function start() {
  const data = await unpack();
  runs = data.runs;
  if (window.innerWidth >= 640 && runs.some((run) => run.laneNames.some((name) => name.includes("(")))) MARGIN = 124;
  colours = data.colours;
  nameUsers();
  if (data.left) byId("status").textContent = `${data.left} runs have too many jobs to be drawn here; they are in the tables.`;
  if (!runs.length) { byId("controls").hidden = true; document.body.dataset.ready = "yes"; return; }
  const options = () => runs.map((run, place) => element("option", { value: String(place) }, run.label));
  byId("run-a").append(...options());
  byId("run-b").append(element("option", { value: "" }, "none"), ...options());
  if (runs.length > 1) { byId("run-a").value = "0"; byId("run-b").value = String(runs.reduce((best, run, place) => (run.group === runs[0].group ? place : best), 0)); }
  charts.push(new Chart(0), new Chart(1));
  choose();
  showKey();
  setView(0, view.whole);
  byId("run-a").addEventListener("change", choose);
  byId("run-b").addEventListener("change", choose);
  byId("colour").addEventListener("change", (event) => { view.colour = event.target.value; showKey(); redraw(); });
  byId("zoom-in").addEventListener("click", () => zoom(0.5));
  byId("zoom-out").addEventListener("click", () => zoom(2));
  byId("zoom-all").addEventListener("click", () => setView(0, view.whole));
  byId("find").addEventListener("change", (event) => find(event.target.value.trim()));
  byId("find").addEventListener("keydown", (event) => { if (event.key === "Enter") find(event.target.value.trim()); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.addEventListener("resize", () => { charts.forEach((chart) => chart.run && chart.show(chart.run)); redraw(); });
  requestAnimationFrame(() => { document.body.dataset.ready = "yes"; }); // after the first drawing
}
window.addEventListener("beforeprint", () => { // paper cannot be clicked
  document.querySelectorAll("details").forEach((part) => { part.open = true; });
  charts.forEach((chart) => chart.draw());
});
start();
