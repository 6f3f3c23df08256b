/* The customer's chat, live. Two classes: ChatSocket carries frames, SupportChat turns them into the log.

   The page works without this file: the log is rendered by the server, and every act is a form. SupportChat takes the same
   forms over, sends frames instead, and adds rows as they come. Text from people reaches the page by textContent alone.

   Frames out: hello {token, after, conversation}, say {text}, choose {offer_seq, choice}, person, end, rate {score, words}, email {address}, each but
   hello with a client_id, by which the server stores it once; typing.
   Frames in: ack {client_id, seq}, row {row}, delta {text}, typing {who}, state {handler, open, closed, line}, error {client_id?, code, text}. */

const ACK_SECONDS = 4; // without an ack after this long, the message says that it is not sent yet
const SLOWEST_RETRY = 15_000; // milliseconds
const STABLE = 5_000; // a connection that held this long starts the back-off afresh

class ChatSocket extends EventTarget {
  #url; #socket; #unacked = new Map(); #attempts = 0; #timer; #hello; #ready = false; #stopped = false; #storage;

  /** `hello` returns the first frame of each connection; `storage` keeps unsent messages over a reload. */
  constructor(url, { hello, storage }) {
    super();
    this.#url = url;
    this.#hello = hello;
    this.#storage = storage;
    for (const frame of this.#kept()) this.#unacked.set(frame.client_id, frame);
    addEventListener("online", () => this.#soon(0));
    addEventListener("offline", () => this.#socket?.close());
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.#soon(0); });
  }

  get connected() { return this.#ready; }
  get unsent() { return [...this.#unacked.values()]; }

  open() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#socket || this.#stopped) return;
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    let opened = 0;
    socket.addEventListener("open", () => {
      opened = Date.now();
      this.#ready = true;
      socket.send(JSON.stringify(this.#hello()));
      // In the order of writing, each with its id: what the server has already, it only acknowledges again.
      for (const frame of this.#unacked.values()) socket.send(JSON.stringify(frame));
      this.#tell("connected");
    });
    socket.addEventListener("message", ({ data }) => this.#heard(JSON.parse(data)));
    socket.addEventListener("close", () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#ready = false;
      if (opened && Date.now() - opened > STABLE) this.#attempts = 0;
      this.#tell("lost");
      const longest = Math.min(SLOWEST_RETRY, 500 * 2 ** this.#attempts++);
      this.#soon(longest * (0.5 + Math.random() / 2)); // jitter: a restarted server is not met by everybody at once
    });
  }

  close() {
    this.#stopped = true;
    this.#socket?.close();
  }

  /** Send a frame that changes something, and keep it until the server says that it is stored. */
  send(frame) {
    this.#unacked.set(frame.client_id, frame);
    this.#keep();
    this.sendOnce(frame);
  }

  sendOnce(frame) {
    if (this.#ready && this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  drop(clientId) {
    if (this.#unacked.delete(clientId)) this.#keep();
  }

  #heard(frame) {
    if (frame.client_id && (frame.type === "ack" || frame.type === "error")) this.drop(frame.client_id);
    this.dispatchEvent(new CustomEvent("frame", { detail: frame }));
  }

  #soon(milliseconds) {
    if (this.#socket || this.#stopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.open(), milliseconds);
  }

  #tell(name) { this.dispatchEvent(new Event(name)); }

  #kept() {
    try { return JSON.parse(sessionStorage.getItem(this.#storage)) ?? []; } catch { return []; }
  }

  #keep() {
    try {
      if (this.#unacked.size) sessionStorage.setItem(this.#storage, JSON.stringify(this.unsent));
      else sessionStorage.removeItem(this.#storage);
    } catch { /* storage may be full or forbidden: then a reload forgets what was not sent */ }
  }
}

class SupportChat extends HTMLElement {
  #socket; #words = {}; #templates = {}; #parts = {}; #last = 0; #pending = new Map(); #live; #typingTimer; #toldTyping = 0;

  connectedCallback() {
    this.staff = this.dataset.mode === "staff";
    for (const part of this.querySelectorAll("[data-part]")) this.#parts[part.dataset.part] ??= part;
    for (const template of this.querySelectorAll("template[data-row]")) this.#templates[template.dataset.row] = template.content;
    for (const word of this.querySelector("template[data-words]")?.content.children ?? []) this.#words[word.dataset.word] = word.textContent;
    for (const row of this.#rows()) this.#adopt(row);
    this.#regroup();
    this.#scrollDown();
    if (this.dataset.socket) this.#connect();
    else this.#watch();
    this.#wire();
    this.dataset.ready = "";
  }

  disconnectedCallback() { this.#socket?.close(); }

  /** Without a socket somebody else puts rows into the log (htmx, at the desk): give them what rows get here. */
  #watch() {
    let stick = true;
    this.#parts.log.addEventListener("scroll", () => { stick = this.#atBottom(); }, { passive: true });
    new MutationObserver(() => {
      for (const row of this.#rows()) this.#adopt(row);
      this.#regroup();
      if (stick) this.#scrollDown();
      else this.#parts.more?.removeAttribute("hidden");
    }).observe(this.#parts.rows, { childList: true });
  }

  // --- frames in -----------------------------------------------------------------------------------------------

  #connect() {
    const path = this.dataset.socket;
    const url = path.startsWith("/") ? `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}` : path;
    this.#socket = new ChatSocket(url, { hello: () => this.#hello(), storage: `rapport-unsent-${this.dataset.conversation || "new"}` });
    this.#socket.addEventListener("frame", ({ detail }) => this.#frame(detail));
    this.#socket.addEventListener("connected", () => this.#connection(true));
    this.#socket.addEventListener("lost", () => this.#connection(false));
    for (const frame of this.#socket.unsent) if (frame.type === "say") this.#show(frame);
    this.#socket.open();
  }

  #hello() {
    const hello = { type: "hello", token: this.dataset.token ?? "", after: this.#last };
    if (this.dataset.conversation) hello.conversation = Number(this.dataset.conversation);
    return hello;
  }

  #frame(frame) {
    if (frame.token) this.dataset.token = frame.token;
    if (frame.conversation) this.#belongsTo(String(frame.conversation));
    switch (frame.type) {
      case "ack": return this.#acked(frame);
      case "row": return this.#row(frame.row);
      case "delta": return this.#delta(frame.text);
      case "typing": return this.#typing(frame.who);
      case "state": return this.#state(frame);
      case "error": return this.#error(frame);
    }
  }

  /** A new conversation has begun, here or in another tab: its log is its own. What is not sent yet stays. */
  #belongsTo(conversation) {
    const before = this.dataset.conversation;
    this.dataset.conversation = conversation;
    if (!before || before === conversation) return;
    for (const row of this.#rows()) row.remove();
    this.#endLive();
    this.#last = 0;
    this.#parts.rate?.removeAttribute("hidden");
    this.#parts.thanks?.setAttribute("hidden", "");
  }

  #acked({ client_id, seq }) {
    const pending = this.#pending.get(client_id);
    if (!pending) return;
    clearTimeout(pending.timer);
    pending.acked = true;
    pending.seq = seq;
    pending.item.classList.remove("turn--pending", "turn--offline");
    pending.item.querySelector(".turn__status")?.remove();
  }

  #row(row) {
    if (row.client_id) this.#settle(row.client_id);
    if (row.sender !== "customer") this.#endLive(row);
    const shown = this.#find(row.seq);
    if (shown) {
      // Words were removed on request: the row stays where it is, without them.
      if (row.meta?.removed) shown.replaceWith(this.#build(row));
      if (row.meta?.removed) this.#regroup();
      return;
    }
    const stick = this.#atBottom() || row.client_id;
    this.#parts.rows.insertBefore(this.#build(row), this.#rows().find((item) => Number(item.dataset.seq) > row.seq) ?? this.#tail());
    this.#last = Math.max(this.#last, row.seq);
    this.#lapse();
    this.#regroup();
    if (stick) this.#scrollDown();
    else this.#parts.more?.removeAttribute("hidden");
  }

  #delta(text) {
    const stick = this.#atBottom();
    if (!this.#live) {
      const live = this.#build({ kind: "message", sender: "bot", text: "", at: new Date().toISOString(), meta: {} });
      live.classList.add("turn--live");
      this.#parts.log.setAttribute("aria-busy", "true"); // so that it is read aloud once, when it is whole
      this.#parts.rows.insertBefore(live, this.#tail());
      this.#live = live;
      this.#typing("");
    }
    slot(this.#live, "text").append(text);
    if (stick) this.#scrollDown();
  }

  #endLive() {
    this.#live?.remove();
    this.#live = undefined;
    this.#parts.log.setAttribute("aria-busy", "false");
    this.#typing("");
  }

  #typing(who) {
    clearTimeout(this.#typingTimer);
    if (!this.#parts.typing) return;
    this.#parts.typing.textContent = who ? (this.#words[`writing-${who}`] ?? "") : "";
    if (who) this.#typingTimer = setTimeout(() => this.#typing(""), who === "bot" ? 20_000 : 6_000);
  }

  #state(state) {
    if (!state.handler) return;
    this.dataset.handler = state.handler;
    this.toggleAttribute("data-closed", Boolean(state.closed));
    if (this.#parts.state && state.line) this.#say(this.#parts.state, state.line);
    if (state.handler === "staff") this.#endLive();
    this.#showFor();
    this.dispatchEvent(new CustomEvent("chat:state", { detail: state, bubbles: true }));
  }

  #showFor() {
    const closed = this.hasAttribute("data-closed");
    const { composer, closed: foot, email } = this.#parts;
    const wasIn = composer?.contains(document.activeElement);
    composer?.toggleAttribute("hidden", closed);
    foot?.toggleAttribute("hidden", !closed);
    email?.toggleAttribute("hidden", closed || this.dataset.handler !== "waiting" || !email.hasAttribute("data-may"));
    if (closed && wasIn) foot?.querySelector("button")?.focus();
  }

  #error({ client_id, code, text }) {
    const pending = this.#pending.get(client_id);
    if (pending) return this.#refuse(pending, text);
    this.#complain(text, code);
  }

  #connection(here) {
    this.toggleAttribute("data-offline", !here);
    for (const pending of this.#pending.values()) this.#mark(pending);
    if (!here) this.#endLive(); // the rest of the draft is lost; its row comes whole
    if (!this.#parts.state) return;
    if (here) {
      if (this.#stateLine !== undefined) this.#say(this.#parts.state, this.#stateLine);
      this.#stateLine = undefined;
    } else if (this.#stateLine === undefined) {
      this.#stateLine = this.#parts.state.textContent;
      this.#lostTimer = setTimeout(() => {
        if (!this.#socket.connected) this.#say(this.#parts.state, this.#words.back);
      }, 1_500); // most losses are mended before anybody has read about them
    }
  }
  #stateLine; #lostTimer;

  // --- frames out ----------------------------------------------------------------------------------------------

  #wire() {
    this.addEventListener("submit", (event) => this.#submit(event));
    this.#parts.more?.addEventListener("click", () => this.#scrollDown());
    this.#parts.log.addEventListener("scroll", () => { if (this.#atBottom()) this.#parts.more?.setAttribute("hidden", ""); }, { passive: true });
    const menu = this.querySelector("details.menu");
    if (menu) document.addEventListener("click", ({ target }) => { if (!menu.contains(target)) menu.open = false; });
    menu?.addEventListener("keydown", ({ key }) => { if (key === "Escape") { menu.open = false; menu.querySelector("summary").focus(); } });
    const text = this.#box();
    if (!text) return;
    text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
      event.preventDefault();
      text.form.requestSubmit();
    });
    text.addEventListener("input", () => this.#typed());
    this.#fit();
  }

  #submit(event) {
    const form = event.target;
    if (form.hasAttribute("data-leaves")) return this.#forgetUnsent();
    const kind = form.hasAttribute("data-offer") ? "choose" : form.dataset.send;
    if (!kind) return;
    event.preventDefault();
    form.closest("details")?.removeAttribute("open");
    const data = new FormData(form);
    if (kind === "say") this.#sayIt(data.get("text"), { typed: form === this.#parts.composer });
    if (kind === "choose") this.#choose(form, event.submitter);
    if (kind === "person") { this.#send({ type: "person" }); this.#box()?.focus(); }
    if (kind === "end") this.#send({ type: "end" });
    if (kind === "rate") this.#rate(form, event.submitter, data.get("words") ?? "");
    if (kind === "email") this.#email(data.get("address"));
  }

  #send(frame) {
    const sent = { ...frame, client_id: newId() };
    this.#socket.send(sent);
    return sent;
  }

  #sayIt(text, { typed }) {
    const limit = Number(this.dataset.limit);
    if (!text.trim()) return typed ? this.#box().focus() : undefined;
    if (length(text) > limit) return this.#count();
    this.#complain("");
    this.#show(this.#send({ type: "say", text }));
    if (!typed) return;
    this.#box().value = "";
    this.#typed();
    this.#box().focus();
  }

  /** Show a message that is not stored yet, with what keeps it from being so. */
  #show(frame) {
    const item = this.#build({ kind: "message", sender: "customer", text: frame.text, at: new Date().toISOString(), meta: {} });
    item.classList.add("turn--pending");
    item.append(this.#templates.status.cloneNode(true));
    const pending = { frame, item };
    pending.timer = setTimeout(() => this.#mark(pending, true), ACK_SECONDS * 1000);
    this.#pending.set(frame.client_id, pending);
    this.#parts.rows.append(item);
    this.#mark(pending);
    this.#lapse();
    this.#regroup();
    this.#scrollDown();
  }

  #mark(pending, late = false) {
    if (pending.acked || pending.refused) return;
    const offline = late || !this.#socket.connected;
    pending.item.classList.toggle("turn--offline", offline);
    this.#say(slot(pending.item.querySelector(".turn__status"), "text"), offline ? this.#words.offline : this.#words.sending);
  }

  #refuse(pending, text) {
    clearTimeout(pending.timer);
    pending.refused = true;
    pending.item.classList.remove("turn--pending", "turn--offline");
    pending.item.classList.add("turn--refused");
    const status = pending.item.querySelector(".turn__status") ?? pending.item.appendChild(this.#templates.status.cloneNode(true)).firstElementChild;
    this.#say(slot(status, "text"), `${this.#words.refused} ${text}`);
    const again = status.querySelector("button");
    again.hidden = false;
    again.addEventListener("click", () => {
      pending.item.remove();
      this.#pending.delete(pending.frame.client_id);
      this.#box().value = [pending.frame.text, this.#box().value].filter(Boolean).join("\n");
      this.#typed();
      this.#box().focus();
    }, { once: true });
  }

  #settle(clientId) {
    const pending = this.#pending.get(clientId);
    this.#socket.drop(clientId);
    if (!pending) return;
    clearTimeout(pending.timer);
    pending.item.remove();
    this.#pending.delete(clientId);
  }

  #choose(form, button) {
    if (!button || button.disabled) return;
    button.setAttribute("aria-pressed", "true");
    for (const one of form.querySelectorAll("button")) one.disabled = true;
    this.#send({ type: "choose", offer_seq: Number(form.dataset.offer), choice: button.value });
    this.#box()?.focus();
  }

  #rate(form, button, words) {
    this.#send({ type: "rate", score: Number(button?.value ?? 1), ...(words.trim() && { words }) });
    form.hidden = true;
    this.#parts.thanks?.removeAttribute("hidden");
  }

  #email(address) {
    this.#send({ type: "email", address });
    this.#parts.email.removeAttribute("data-may");
    this.#parts.email.hidden = true;
    this.#box()?.focus();
  }

  #forgetUnsent() {
    for (const { client_id } of this.#socket.unsent) this.#socket.drop(client_id);
  }

  // --- composer ------------------------------------------------------------------------------------------------

  #box() { return this.#parts.composer?.querySelector("textarea"); }

  #typed() {
    this.#fit();
    this.#count();
    if (Date.now() - this.#toldTyping < 3_000 || !this.#box().value) return;
    this.#toldTyping = Date.now();
    this.#socket.sendOnce({ type: "typing" });
  }

  #fit() {
    const text = this.#box();
    if (CSS.supports("field-sizing", "content")) return;
    text.style.height = "auto";
    text.style.height = `${text.scrollHeight + 2}px`;
  }

  #count() {
    const limit = Number(this.dataset.limit);
    const count = length(this.#box().value);
    const over = count - limit;
    this.#parts.count.hidden = count < limit * 0.9 || over > 0;
    this.#parts.count.textContent = fill(this.#words.count, { count, limit });
    this.#complain(over > 0 ? fill(this.#words.long, { count, limit, over }) : "");
  }

  #complain(text) {
    if (!this.#parts.error) return;
    this.#say(this.#parts.error, text);
    if (text) this.#box().setAttribute("aria-invalid", "true");
    else this.#box().removeAttribute("aria-invalid");
  }

  // --- log -----------------------------------------------------------------------------------------------------

  #rows() { return [...this.#parts.rows.querySelectorAll(":scope > [data-seq]")]; }
  #find(seq) { return this.#parts.rows.querySelector(`:scope > [data-seq="${Number(seq)}"]`); }

  /** Where a row newer than all others goes: before what is being written and what is not sent yet. */
  #tail() { return this.#live ?? [...this.#pending.values()].find(({ acked }) => !acked)?.item ?? null; }

  #build(row) {
    const template = this.#templates[row.kind] ?? this.#templates.message;
    const item = template.cloneNode(true).querySelector("li");
    item.classList.add(`turn--${row.sender}`, `turn--${row.kind}`);
    Object.assign(item.dataset, { kind: row.kind, sender: row.sender, at: row.at, by: `${row.role ?? ""}|${row.name ?? ""}` });
    if (row.seq) item.dataset.seq = row.seq;
    const who = slot(item, "who");
    if (who) who.textContent = this.#who(row);
    if (row.kind === "answer") this.#fillAnswer(item, row);
    else slot(item, "text").textContent = row.text;
    if (row.kind === "offer") this.#fillOffer(item, row);
    this.#adopt(item);
    return item;
  }

  #who(row) {
    if (row.sender === "customer") return this.#words.you;
    if (row.sender === "bot") return this.#words.bot;
    return [row.name, row.role].filter(Boolean).join(", ") || this.#words.team;
  }

  #fillAnswer(item, { meta, text }) {
    slot(item, "by").textContent = [meta.author, meta.role].filter(Boolean).join(", ") || this.#words.team;
    const said = item.querySelector("time[data-day]");
    said.dateTime = meta.said_on ?? "";
    slot(item, "title").textContent = meta.title ?? "";
    slot(item, "title").hidden = !meta.title;
    for (const part of meta.parts?.length ? meta.parts : [text]) {
      const block = document.createElement("div");
      block.className = "text";
      block.dir = "auto";
      block.textContent = part;
      slot(item, "parts").append(block);
    }
  }

  #fillOffer(item, { seq, meta }) {
    const list = slot(item, "choices");
    const choices = [...(meta.choices ?? []), ...(this.staff ? [] : [{ choice: "none", title: this.#words.else }])];
    if (!this.staff) Object.assign(list.dataset, { offer: seq });
    for (const { choice, title } of choices) {
      const one = document.createElement(this.staff ? "li" : "button");
      one.className = this.staff ? "offer__choice" : `button offer__choice${choice === "none" ? " offer__choice--else" : ""}`;
      one.dir = "auto";
      one.textContent = title;
      if (!this.staff) one.value = choice;
      list.append(one);
    }
  }

  /** What a row gets when it enters the page, whoever rendered it: the customer's own times, and links.
   *  The desk keeps the times as they were written: all of it goes by the business's clock. */
  #adopt(item) {
    if (item.dataset.seq) this.#last = Math.max(this.#last, Number(item.dataset.seq));
    const time = item.querySelector(".turn__who time");
    if (time && !this.staff) {
      time.dateTime = item.dataset.at;
      this.#say(time, clock(new Date(item.dataset.at)));
    }
    for (const day of item.querySelectorAll("time[data-day]")) if (day.dateTime) day.textContent = date(day.dateTime);
    // Customers' words stay unlinked: staff should not be led anywhere by a stranger.
    if (item.dataset.sender === "bot" || item.dataset.sender === "staff") for (const text of item.querySelectorAll(".text")) link(text);
  }

  /** An offer holds until anything newer is said, here or in another tab: a state line says nothing. */
  #lapse() {
    const said = this.#parts.rows.querySelectorAll(":scope > li:not(.turn--state)");
    const newest = said[said.length - 1];
    for (const offer of this.#parts.rows.querySelectorAll("form.offer")) {
      const lapsed = offer.closest("li") !== newest;
      if (lapsed) for (const button of offer.querySelectorAll("button")) button.disabled = true;
    }
  }

  #regroup() {
    let before = "";
    for (const item of this.#parts.rows.children) {
      const { sender, kind, by, at } = item.dataset;
      const group = kind === "message" || kind === "choice" ? `${sender}|${by}|${at && clock(new Date(at))}` : `${item.dataset.seq}`;
      item.classList.toggle("turn--joined", group === before);
      before = group;
    }
  }

  /** The log, or the whole page where the window is so low that the page scrolls (app.css). */
  #scroller() {
    const log = this.#parts.log;
    return getComputedStyle(log).overflowY === "visible" ? document.scrollingElement : log;
  }

  #atBottom() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller();
    return scrollHeight - scrollTop - clientHeight < 80;
  }

  #scrollDown() {
    const scroller = this.#scroller();
    scroller.scrollTop = scroller.scrollHeight;
    this.#parts.more?.setAttribute("hidden", "");
  }

  /** Change a live region only when its words change, else it is read aloud again. */
  #say(element, words) { if (element.textContent !== words) element.textContent = words; }
}

const slot = (item, name) => item.querySelector(`[data-slot="${name}"]`);
const length = (text) => (text.length < 5_000 ? text.length : [...text].length); // characters as the server counts them
const language = document.documentElement.lang || undefined;
const number = new Intl.NumberFormat(language);
const fill = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => number.format(values[name]));

function clock(at) {
  const today = at.toDateString() === new Date().toDateString();
  const day = today ? {} : { weekday: "short", day: "numeric", month: "short" };
  return new Intl.DateTimeFormat(language, { ...day, hour: "2-digit", minute: "2-digit" }).format(at);
}

function date(iso) {
  const [year, month, day] = iso.slice(0, 10).split("-").map(Number);
  return new Intl.DateTimeFormat(language, { dateStyle: "long" }).format(new Date(year, month - 1, day));
}

/** Make web addresses in `element` links. What its textContent is stays the same to the letter. */
function link(element) {
  for (const node of [...element.childNodes]) {
    if (node.nodeType !== Node.TEXT_NODE) continue;
    const pieces = node.data.split(/(https?:\/\/[^\s<>"'\u2028\u2029]*[^\s<>"'.,;:!?)\]}\u2028\u2029])/);
    if (pieces.length === 1) continue;
    node.replaceWith(...pieces.map((piece, index) => {
      if (index % 2 === 0) return piece;
      const anchor = document.createElement("a");
      Object.assign(anchor, { href: piece, target: "_blank", rel: "noopener noreferrer nofollow", textContent: piece });
      return anchor;
    }));
  }
}

/** Random, and not crypto.randomUUID: that one exists on https and localhost alone. */
function newId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

customElements.define("support-chat", SupportChat);
