// Files on their way to the service, in chunks. An upload that was cut off goes on where the service
// says that it stands: after a pause, a lost connection, or a reload that chooses the same file again.

import { Refused, call, get, post, remove } from "./api.mjs";

const CHUNK = 2 * 1024 * 1024;
const WAITS = [1, 2, 4, 8, 15];
const KEY = "nnc-uploads";

/** Uploads that were cut off, as the service knows them: they need their file again. */
export async function unfinished(purpose) {
  const found = await get("/uploads");
  return found.filter((one) => one.purpose === purpose).map((one) => new Upload(null, { ...one, modified: times()[one.id] }));
}

/** When the files of uploads were last changed, by the upload; what this browser began itself. */
function times() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return kept && typeof kept === "object" ? kept : {};
  } catch {
    return {};
  }
}

function keepTime(id, modified) {
  const { [id]: _, ...others } = times();
  try {
    localStorage.setItem(KEY, JSON.stringify(modified === null ? others : { ...others, [id]: modified }));
  } catch {
    // A browser that keeps nothing: then names and sizes alone tell files apart.
  }
}

/** One file. `state` is waiting, running, paused, lost (its file must be chosen again), failed or done. */
export class Upload extends EventTarget {
  constructor(file, { id = null, name = file.name, bytes = file.size, modified = file?.lastModified, offset = 0, purpose }) {
    super();
    Object.assign(this, { file, id, name, bytes, modified, purpose, offset, rate: 0, error: "", answer: null });
    this.state = file ? "waiting" : "lost";
  }

  set(change) {
    Object.assign(this, change);
    this.dispatchEvent(new Event("change"));
  }

  /** Why a file is not the one whose upload was cut off; empty where it may be. */
  differs(file) {
    if (file.size !== this.bytes) return `'${file.name}' has ${file.size.toLocaleString("en")} bytes, and this upload ${this.bytes.toLocaleString("en")}: choose the same file.`;
    if (file.name !== this.name) return `'${file.name}' has another name than '${this.name}': choose the same file.`;
    if (this.modified !== undefined && file.lastModified !== this.modified) return `'${file.name}' has changed since: cancel this upload and start anew.`;
    return "";
  }

  /** Goes on with the file of an upload that was cut off. */
  take(file) {
    const error = this.differs(file);
    if (error) return this.set({ error });
    this.file = file;
    return this.run();
  }

  async run() {
    this.stop = new AbortController();
    this.set({ state: "running", error: "" });
    for (let tries = 0; ; tries++) {
      try {
        await this.send(() => (tries = 0));
        keepTime(this.id, null);
        return this.set({ state: "done" });
      } catch (error) {
        if (error.name === "AbortError") return;
        const passing = error instanceof Refused && (error.status === 0 || error.status === 409 || error.status === 503);
        if (!passing || tries >= WAITS.length) return this.set({ state: this.id && passing ? "paused" : "failed", error: error.message });
        this.set({ error: `${error.message} Trying again in ${WAITS[tries]} s.` });
        await new Promise((done) => setTimeout(done, WAITS[tries] * 1000));
        if (this.stop.signal.aborted) return;
      }
    }
  }

  async send(went) {
    const { purpose, name, bytes, modified } = this;
    if (!bytes) throw new Refused(400, "The file is empty.");
    if (!this.id) {
      this.id = (await post("/uploads", { name, bytes, purpose })).id;
      keepTime(this.id, modified);
    } else {
      this.answer = await get(`/uploads/${this.id}`);
      this.offset = this.answer.offset;
    }
    while (this.offset < bytes) {
      const before = performance.now(), from = this.offset;
      this.answer = await call("PATCH", `/uploads/${this.id}`, {
        bytes: this.file.slice(from, from + CHUNK), headers: { "upload-offset": String(from) }, signal: this.stop.signal,
      });
      const rate = (1000 * (this.answer.offset - from)) / Math.max(1, performance.now() - before);
      went();
      this.set({ offset: this.answer.offset, rate: this.rate ? 0.7 * this.rate + 0.3 * rate : rate, error: "" });
    }
  }

  pause() {
    this.stop.abort();
    this.set({ state: "paused", error: "" });
  }

  async discard() {
    this.stop?.abort();
    if (this.id) keepTime(this.id, null);
    if (this.id && this.state !== "done") await remove(`/uploads/${this.id}`).catch(() => {});
    this.set({ state: "gone" });
  }
}
