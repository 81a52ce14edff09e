// The official TypeScript SDK: version 1 (`@modelcontextprotocol/sdk`), which most hosts are built
// on, or version 2 (`@modelcontextprotocol/client`) when `2` is given.
import { handedOn, serve } from './answering.mjs';

const second = process.argv[2] === '2';
const { Client } = await import(
  second ? '@modelcontextprotocol/client' : '@modelcontextprotocol/sdk/client/index.js'
);
const { StdioClientTransport } = await import(
  second ? '@modelcontextprotocol/client/stdio' : '@modelcontextprotocol/sdk/client/stdio.js'
);
const { StreamableHTTPClientTransport } = await import(
  second ? '@modelcontextprotocol/client' : '@modelcontextprotocol/sdk/client/streamableHttp.js'
);

let client;

await serve({
  async open({ server }) {
    const options = second ? { versionNegotiation: { mode: 'auto' } } : {};
    client = new Client({ name: 'bench', version: '1' }, options);
    client.onerror = (error) => console.error(`onerror: ${error.message}`);
    const transport = server.url
      ? new StreamableHTTPClientTransport(new URL(server.url), {
          requestInit: { headers: server.headers },
        })
      : new StdioClientTransport({
          command: server.command[0],
          args: server.command.slice(1),
          env: server.env,
          stderr: 'inherit',
        });
    await client.connect(transport);
    const revision = second ? client.getNegotiatedProtocolVersion?.() : transport.protocolVersion;
    return { revision: revision ?? '?', instructions: client.getInstructions() };
  },
  close: () => client.close(),
  async tools() {
    return { names: (await client.listTools()).tools.map((tool) => tool.name) };
  },
  async call({ tool, arguments: given, patience, progress, signal }) {
    let told = 0;
    const options = {
      signal,
      ...(patience ? { timeout: patience * 1000 } : {}),
      ...(progress ? { onprogress: () => (told += 1) } : {}),
    };
    const params = { name: tool, arguments: given };
    const result = second
      ? await client.callTool(params, options)
      : await client.callTool(params, undefined, options);
    return handedOn(result, told);
  },
  async resources() {
    return (await client.listResources()).resources.map((found) => found.uri);
  },
  read: async ({ uri }) => (await client.readResource({ uri })).contents[0].text,
  async prompts() {
    return (await client.listPrompts()).prompts.map((prompt) => prompt.name);
  },
  prompt: async ({ name }) => (await client.getPrompt({ name })).messages[0].content.text,
});
