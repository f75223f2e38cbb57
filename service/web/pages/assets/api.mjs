// The service's REST interface, as pages use it.

const BASE = "/api/v1";

/** What the service says no to, in its words. `status` is 0 where it did not answer at all. */
export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

/** The address of something that the browser opens by itself: a file, a page, events. */
export const address = (path) => BASE + path;

/** Calls the service: `json` or `bytes` is the body. Gives what the answer's JSON says. Throws Refused. */
export async function call(method, path, { json, bytes, headers, signal } = {}) {
  const type = json === undefined ? bytes && "application/octet-stream" : "application/json";
  let answer;
  try {
    answer = await fetch(address(path), {
      method, signal, credentials: "same-origin",
      headers: { accept: "application/json", "x-nnc": "1", ...(type && { "content-type": type }), ...headers },
      body: json === undefined ? bytes : JSON.stringify(json),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The service does not answer. It may be restarting, or the network is down.");
  }
  const said = await answer.json().catch(() => null);
  if (answer.ok) return said;
  if (answer.status === 401 && path !== "/session") dispatchEvent(new Event("signed-out"));
  throw new Refused(answer.status, typeof said?.error === "string" ? said.error : `The service answered with status ${answer.status}.`);
}

export const get = (path) => call("GET", path);
export const post = (path, json = {}) => call("POST", path, { json });
export const remove = (path) => call("DELETE", path);

/** Calls `receive` with each event's data until the returned function is called; the browser reconnects by itself. */
export function follow(path, receive, lost) {
  const source = new EventSource(address(path));
  source.addEventListener("job", (event) => receive(JSON.parse(event.data)));
  source.addEventListener("error", () => lost(source.readyState === EventSource.CLOSED));
  return () => source.close();
}
