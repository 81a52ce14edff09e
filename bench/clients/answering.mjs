// A client's side of the talk with bench/hosts.py; the rules are answering.py's.
import { createInterface } from 'node:readline';

/** Tell a result as the SDKs return it. */
export function handedOn(result, progress = 0) {
  const blocks = result.content ?? [];
  return {
    text: blocks.filter((block) => block.type === 'text').map((block) => block.text).join('\n'),
    images: blocks.filter((block) => block.type === 'image').length,
    structured: result.structuredContent ? JSON.stringify(result.structuredContent).length : 0,
    error: result.isError === true,
    progress,
  };
}

/** Obey orders until standard input ends. Each gets `signal`, by which it may be cancelled. */
export async function serve(host) {
  console.log = console.info = console.error;
  const tell = (answer) => process.stdout.write(JSON.stringify(answer) + '\n');
  let running = new AbortController();
  for await (const line of createInterface({ input: process.stdin })) {
    const { do: what, ...order } = JSON.parse(line);
    if (what === 'cancel') {
      running.abort();
      continue;
    }
    running = new AbortController();
    const work = host[what] ? host[what]({ ...order, signal: running.signal }) : null;
    Promise.resolve(work)
      .then((value) => tell({ value: value ?? null }))
      .catch((error) => tell({ raised: `${error.name}: ${error.message}` }));
  }
  process.exit(0);
}
