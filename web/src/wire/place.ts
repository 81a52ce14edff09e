// Where the daemon is, seen from this page. Rule: always the page's own origin and folder.

const base = new URL(".", location.href.split("#")[0]);

/** Both sockets of a page send this, so that the daemon knows them as one person. */
export const client = randomId(12);

export function address(path: string): URL {
  return new URL(path, base);
}

export function socketAddress(path: string, query: Record<string, string>): string {
  const url = address(path);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = new URLSearchParams({ ...query, client }).toString();
  return url.href;
}

/** So many random bytes, as hex digits. */
export function randomId(size: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(size));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
