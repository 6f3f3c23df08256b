/** The desk in the browser: a ping comes, the page is read anew; words, focus and scroll stay where they are.
 *  What the server renders works without it: every action is a form or a link. */

const RETRY_MS = [500, 1000, 2000, 5000, 10000];
const LOOK_MS = 15000;
const TYPING_MS = 3000;
const DRAFT_MS = 700;
const SETTLE_MS = 200;
const NOTIFY = "desk.notify";

const $ = (selector, root = document) => root.querySelector(selector);
const main = () => $("#main-pane");
const box = () => $("#reply-text");
const writing = (element) => element?.matches?.("input:not([type=radio], [type=checkbox], [type=hidden]), textarea, select");

// --- the socket: it only says that something changed ---------------------------------------------------------------

let socket, tries = 0, typedAt = 0, said = "", theyType;

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${document.body.dataset.socket}`);
  socket.addEventListener("open", () => { tries = 0; $("#offline").hidden = true; said = ""; look(); reread(); });
  socket.addEventListener("message", (event) => {
    const frame = JSON.parse(event.data);
    if (frame.type === "changed") reread();
    if (frame.type === "typing") showTyping(frame.who);
  });
  socket.addEventListener("close", (event) => {
    $("#offline").hidden = false;
    if (event.code === 4403) { location.reload(); return; }
    setTimeout(connect, RETRY_MS[Math.min(tries++, RETRY_MS.length - 1)] * (0.75 + Math.random() / 2));
  });
}

function look() {
  if (socket?.readyState !== WebSocket.OPEN) return;
  const open = Number(main()?.dataset.open) || null;
  const frame = JSON.stringify({ type: "look", escalation: open, typing: Date.now() - typedAt < TYPING_MS });
  if (document.visibilityState === "hidden" && frame === said) return;
  said = frame;
  socket.send(frame);
}

function showTyping(who) {
  const line = $("#typing");
  if (!line || who !== "customer") return;
  line.textContent = `${main().dataset.customer} …`;
  clearTimeout(theyType);
  theyType = setTimeout(() => { line.textContent = ""; }, 4000);
}

// --- reading the page anew -------------------------------------------------------------------------------------------

let reading = false, again = false, settle, asked = "";

const opens = () => `${main()?.dataset.open ?? ""}/${main()?.dataset.chat ?? ""}`;

function reread() {
  clearTimeout(settle);
  settle = setTimeout(read, SETTLE_MS);
}

async function read() {
  if (reading) { again = true; return; }
  reading = true;
  asked = opens();
  const query = new URLSearchParams(location.search);
  const { open, chat } = main()?.dataset ?? {};
  if (open) query.set("open", open);
  if (chat) query.set("chat", chat);
  if (open && box()?.value.trim()) query.set("seen_seq", $("#seen-seq").value);
  if (open && $("#suggest")) query.set("held", $("#suggest").dataset.held);
  try {
    const address = $("#list") || main() ? `/inbox/live/?${query}` : "/inbox/alerts/";
    await htmx.ajax("GET", address, { source: document.body, swap: "none" });
  } finally {
    reading = false;
    if (again) { again = false; reread(); }
  }
}

// Something else was opened while this was on its way: it has no place here any more.
document.addEventListener("htmx:beforeSwap", (event) => {
  if (!event.detail.pathInfo?.requestPath?.startsWith("/inbox/live/") || asked === opens()) return;
  event.detail.shouldSwap = false;
  reread();
});

/** A part that is as it was stays as it is: what is selected, unfolded or pointed at in it too. */
const shown = new Map();
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { target, fragment } = event.detail;
  // A row that is taken away while it loads has no page to put the customer's pane into.
  if (target.id === "list" && $(".htmx-request", target)) { event.detail.shouldSwap = false; reread(); return; }
  const html = [...fragment.childNodes].map((node) => node.outerHTML ?? node.textContent).join("");
  const key = target.id + (main()?.dataset.open ?? main()?.dataset.chat ?? "");
  if (shown.get(key) === html && target.isConnected) { event.detail.shouldSwap = false; return; }
  // "Not sent yet" stays until it is read: a ping must not turn it into less.
  const stale = target.id === "arrived" && $(".notice--danger[data-seq]", target)?.dataset.seq;
  if (stale && html.includes(`data-seq="${stale}"`) && !html.includes("notice--danger")) { event.detail.shouldSwap = false; return; }
  shown.set(key, html);
  keepUnfolded(target);
});

function keepUnfolded(root) {
  const unfolded = [...root.querySelectorAll("details[open][data-keep]")].map((d) => d.dataset.keep);
  if (unfolded.length) queueMicrotask(() => setTimeout(() => {
    for (const keep of unfolded) for (const found of document.querySelectorAll(`details[data-keep="${keep}"]`)) found.open = true;
  }));
}

document.addEventListener("htmx:oobAfterSwap", afterChange);
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id === "main-pane" || event.detail.elt?.id === "main-pane") opened();
});
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target?.id === "main-pane") saveDraft(true);
});
document.addEventListener("htmx:sendError", () => { $("#offline").hidden = false; });

function afterChange() {
  badge();
  mark();
  // A colleague took it: what was begun stays to be read and copied, and nothing is sent from here.
  if (box() && $("#reply-bar")) box().readOnly = $("#reply-bar").hasAttribute("data-held");
  if (box() && !box().value.trim()) seen();
}

function opened() {
  shown.clear();
  const panes = $("#panes");
  panes.dataset.shows = "main";
  mark();
  look();
  fit();
}

function mark() {
  const { open, chat } = main()?.dataset ?? {};
  const current = open ? `row-${open}` : chat ? `chat-${chat}` : "";
  for (const row of document.querySelectorAll("#list a.row")) {
    if (row.id === current) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
}

// --- replies and drafts ----------------------------------------------------------------------------------------------

let drafting, saving = false, saved = "";

/** What the writer has read: everything, as long as nothing is begun. */
function seen() {
  const field = $("#seen-seq");
  const rows = document.querySelectorAll("#transcript-rows > [data-seq]");
  if (field && rows.length) field.value = Math.max(Number(field.value), ...[...rows].map((r) => Number(r.dataset.seq)));
}

/** One at a time: an older text must not reach the server after a newer one. The tick is for what stands in the box. */
async function saveDraft(leaving = false) {
  const form = $("#reply");
  clearTimeout(drafting);
  if (!form || box().value === saved) return;
  if (saving && !leaving) { drafting = setTimeout(saveDraft, DRAFT_MS); return; }
  const text = box().value, before = saved;
  saving = true;
  saved = text;
  const sent = fetch(form.dataset.draft, { method: "POST", body: new FormData(form), keepalive: true });
  const ok = await sent.then((response) => response.ok, () => false);
  saving = false;
  if (saved !== text) return;  // sent, or read anew, meanwhile
  if (!ok) saved = before;  // it stays in the box, and goes with the next key
  else if (!leaving && box()?.value === text && $("#saved")) $("#saved").textContent = text.trim() ? "✓" : "";
}

document.addEventListener("input", (event) => {
  if (event.target !== box()) return;
  if (Date.now() - typedAt > TYPING_MS) { typedAt = Date.now(); look(); setTimeout(look, TYPING_MS + 100); }
  typedAt = Date.now();
  if ($("#saved")) $("#saved").textContent = "";
  clearTimeout(drafting);
  drafting = setTimeout(saveDraft, DRAFT_MS);
  canned();
});
addEventListener("pagehide", () => saveDraft(true));

function cleared(event) {
  const text = box();
  if (text) { text.value = ""; saved = ""; clearTimeout(drafting); }
  const field = $("#seen-seq");
  if (field && event.detail?.seq) field.value = event.detail.seq;
  seen();
  text?.focus();
}
document.addEventListener("desk:sent", cleared);
// Not before the reply to the form has found its places: one that is off the page finds none.
document.addEventListener("desk:answered", (event) => { cleared(event); setTimeout(() => $("#suggest")?.replaceChildren()); });
document.addEventListener("desk:noted", () => {
  const note = $("#note");
  if (note) { $("textarea", note).value = ""; note.open = false; box()?.focus(); }
});

// --- ready-made replies ----------------------------------------------------------------------------------------------

let options = [], picked = 0;

/** "/ho" at the caret offers the replies whose short name or words begin with it. */
function canned() {
  const list = $("#canned"), text = box();
  const word = /(?:^|\s)\/([\w-]*)$/.exec(text.value.slice(0, text.selectionStart));
  const all = JSON.parse($("#canned-replies")?.textContent || "[]");
  options = word ? all.filter((r) => r.shortcut.startsWith(word[1].toLowerCase())) : [];
  list.hidden = !options.length;
  picked = 0;
  list.replaceChildren(...options.map((reply, i) => {
    const item = document.createElement("div"), name = document.createElement("b"), words = document.createElement("span");
    item.id = `canned-${i}`;
    item.setAttribute("role", "option");
    name.textContent = `/${reply.shortcut}`;
    words.textContent = reply.text.length > 120 ? `${reply.text.slice(0, 120)} …` : reply.text;
    item.append(name, words);
    item.addEventListener("pointerdown", (event) => { event.preventDefault(); pick(i); });
    return item;
  }));
  point();
}

function point() {
  const list = $("#canned");
  [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === picked)));
  if (list.hidden) box().removeAttribute("aria-activedescendant");
  else box().setAttribute("aria-activedescendant", `canned-${picked}`);
  list.children[picked]?.scrollIntoView({ block: "nearest" });
}

function pick(i) {
  const text = box(), until = text.selectionStart;
  const from = text.value.lastIndexOf("/", until - 1);
  text.setRangeText(options[i].text, from, until, "end");
  text.dispatchEvent(new Event("input", { bubbles: true }));
  $("#canned").hidden = true;
}

function cannedKey(event) {
  const list = $("#canned");
  if (event.target !== box() || !list || list.hidden) return false;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) picked = (picked + step + options.length) % options.length;
  else if (event.key === "Enter" || event.key === "Tab") pick(picked);
  else if (event.key === "Escape") list.hidden = true;
  else return false;
  event.preventDefault();
  if (!list.hidden) point();
  return true;
}

// --- keys ------------------------------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if (cannedKey(event)) return;
  const { target } = event;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && target.form) {
    event.preventDefault();
    target.form.requestSubmit($("button:not([name])", target.form) ?? undefined);
    return;
  }
  if (event.key === "Escape" && writing(target)) { target.blur(); $("#work-title")?.focus(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || writing(target) || $("dialog[open]")) return;
  if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
  else if (event.key === "?") $("#keys").showModal();
  else if (!act(event.key)) return;
  event.preventDefault();
});

const CARD = ".review__card";

/** On the page of what is to be checked, keys decide about the card that has the focus. */
function act(key) {
  const inCards = $(CARD) && document.activeElement?.closest(CARD);
  const found = [...(inCards || document).querySelectorAll("[data-key]"), ...document.querySelectorAll("[data-key]")].find((e) => e.dataset.key === key && (!e.closest(CARD) || e.closest(CARD) === inCards) && (e.offsetParent || e.getClientRects().length));
  if (!found) return false;
  if (found.matches("summary")) { found.parentElement.open = true; $("textarea", found.parentElement)?.focus(); }
  else if (writing(found)) { found.focus(); found.setSelectionRange?.(found.value.length, found.value.length); }
  else found.click();
  return true;
}

function step(by) {
  const rows = [...document.querySelectorAll(`#list a.row, ${CARD}`)];
  if (!rows.length) return;
  const from = rows.findIndex((r) => r === document.activeElement || (r.matches(CARD) && r.contains(document.activeElement)) || (!rows.includes(document.activeElement) && r.ariaCurrent === "true"));
  const row = rows[Math.max(0, Math.min(rows.length - 1, from < 0 ? 0 : from + by))];
  row.focus();
  if (row.matches(CARD)) return;
  if (matchMedia("(min-width: 720px)").matches && row.ariaCurrent !== "true") row.click();
}

// --- what unfolds ----------------------------------------------------------------------------------------------------

/** A menu closes when somebody goes on elsewhere; it would cover what is written or read there. */
function closeMenus(target) {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(target)) menu.open = false;
}
for (const kind of ["focusin", "pointerdown"]) document.addEventListener(kind, ({ target }) => closeMenus(target));

/** What is unfolded in the keeping step comes into sight above the bar. */
document.addEventListener("toggle", ({ target }) => {
  if (target.open && target.closest("#keep") && target.contains(document.activeElement)) target.scrollIntoView({ block: "nearest" });
}, true);

// --- clicks ----------------------------------------------------------------------------------------------------------

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  if (!button || button.matches("select")) return;
  const panes = $("#panes");
  switch (button.dataset.do) {
    case "list": event.preventDefault(); panes.dataset.shows = "list"; $('#list [aria-current="true"]')?.focus(); break;
    case "main": panes.dataset.shows = "main"; break;
    case "side": panes.dataset.shows = "side"; break;
    case "help": $("#keys").showModal(); break;
    case "dismiss": button.closest(".notice").remove(); break;
    case "read": $("#seen-seq").value = button.closest("[data-seq]").dataset.seq; button.closest(".notice").remove(); box().focus(); saved = ""; saveDraft(); break;
    case "insert": insert(button.dataset.text); break;
    case "notify": askToNotify(); break;
  }
});

document.addEventListener("change", (event) => {
  if (event.target.matches('select[data-do="submit"]')) event.target.form.submit();
  if (event.target.matches("[data-title]")) { $("#title").value = event.target.dataset.title; unanswered(event.target.value); }
});

/** The keeping step: of what nobody has answered yet, all but what is answered now. */
function unanswered(chosen) {
  const items = [...document.querySelectorAll("[data-waits]")];
  for (const item of items) item.hidden = item.dataset.waits === chosen;
  const left = items.filter((item) => !item.hidden).length;
  for (const said of document.querySelectorAll("[data-waiting]")) said.hidden = Number(said.dataset.waiting) !== left;
  for (const part of document.querySelectorAll("#unanswered, [data-unanswered]")) part.hidden = !left;
}
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) { event.preventDefault(); event.stopImmediatePropagation(); }
}, true);

function insert(words) {
  const text = box();
  if (text.readOnly) return;
  text.setRangeText(words, text.selectionStart, text.selectionEnd, "end");
  text.dispatchEvent(new Event("input", { bubbles: true }));
  text.focus();
}

// --- told: title, sound, notice --------------------------------------------------------------------------------------

const KNEW = "desk.knew";
const title = document.title.replace(/^\(\d+\) /, "");
const unread = new Set(); // conversations of mine with something new that was not on the screen yet
let knew = JSON.parse(sessionStorage.getItem(KNEW) || "null");

const onScreen = (id) => document.visibilityState === "visible" && main()?.dataset.open === id;

/** Compare what the page says by itself with what it said before: what is new rings, once. */
function badge() {
  const alerts = $("#alerts");
  if (!alerts) return;
  const now = { unclaimed: Number(alerts.dataset.unclaimed), ...JSON.parse(alerts.dataset.signs) };
  const rings = [];
  for (const [sign, value] of Object.entries(now)) {
    const [kind, id] = sign.split("-");
    const mine = kind === "said" || kind === "urgent";
    const before = knew?.[sign];
    if (!knew || value <= (before ?? 0) || (mine && before === undefined)) continue;
    if (kind === "said" && onScreen(id)) continue;
    if (mine || kind === "given") unread.add(id);
    rings.push(kind === "unclaimed" ? "new" : kind);
  }
  for (const id of unread) if (onScreen(id) || !(`said-${id}` in now)) unread.delete(id);
  knew = now;
  sessionStorage.setItem(KNEW, JSON.stringify(now));
  const number = now.unclaimed + unread.size;
  document.title = number ? `(${number}) ${title}` : title;
  const loudest = ["urgent", "given", "said", "new", "again"].find((kind) => rings.includes(kind));
  if (loudest) alarm(alerts.dataset[loudest]);
}

function alarm(words) {
  if (localStorage.getItem(NOTIFY) !== "on") return;
  beep();
  if (globalThis.Notification?.permission === "granted" && document.visibilityState === "hidden") {
    // What somebody wrote stays out of the notice: screens are shared.
    const notice = new Notification(title, { body: words, tag: "desk" });
    notice.addEventListener("click", () => { focus(); notice.close(); });
  }
}

function beep() {
  const audio = new AudioContext(), tone = audio.createOscillator(), volume = audio.createGain();
  tone.frequency.value = 660;
  volume.gain.setValueAtTime(0.12, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.0001, audio.currentTime + 0.5);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + 0.5);
  tone.addEventListener("ended", () => audio.close());
}

async function askToNotify() {
  const on = localStorage.getItem(NOTIFY) === "on";
  if (!on && globalThis.Notification?.permission === "default") await Notification.requestPermission();
  localStorage.setItem(NOTIFY, on ? "off" : "on");
  if (!on) beep();
  sayNotify();
}

function sayNotify() {
  const button = $('[data-do="notify"]');
  if (!button) return;
  const on = localStorage.getItem(NOTIFY) === "on";
  const denied = on && globalThis.Notification?.permission === "denied";
  $("span", button).textContent = denied ? button.dataset.denied : on ? button.dataset.on : button.dataset.off;
  button.setAttribute("aria-pressed", String(on));
}

// --- start -----------------------------------------------------------------------------------------------------------

/** Words that were begun before: the list scrolls to what is open, the box to its end. */
function fit() {
  saved = box()?.value ?? "";
  if (box() && !saved.trim()) seen();
}

addEventListener("popstate", () => setTimeout(look));
addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") { badge(); reread(); look(); } });
sayNotify();
badge();
fit();
($(`${CARD}:target`) ?? $(CARD))?.focus({ preventScroll: !location.hash });
$('#list [aria-current="true"]')?.scrollIntoView({ block: "nearest" });
if (document.body.dataset.socket && $("#offline")) {
  connect();
  setInterval(look, LOOK_MS);
}
