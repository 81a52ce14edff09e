// The AI SDK's MCP client: tools as generateText calls them, and what they hand to the model.
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { serve } from './answering.mjs';

let client;
let tools = {};

await serve({
  async open({ server }) {
    const transport = server.url
      ? { type: 'http', url: server.url, headers: server.headers }
      : new StdioTransport({
          command: server.command[0],
          args: server.command.slice(1),
          env: server.env,
        });
    client = await createMCPClient({
      transport,
      onUncaughtError: (error) => console.error(`uncaught: ${error.message}`),
    });
    return { revision: client.protocolVersion ?? '?', instructions: client.instructions ?? null };
  },
  close: () => client.close(),
  async tools() {
    tools = await client.tools();
    return { names: Object.keys(tools) };
  },
  async call({ tool, arguments: given, patience, signal }) {
    const given_up = patience ? AbortSignal.any([signal, AbortSignal.timeout(patience * 1000)]) : signal;
    const options = { toolCallId: '1', messages: [], abortSignal: given_up };
    const result = await tools[tool].execute(given, options);
    const seen = tools[tool].toModelOutput({ toolCallId: '1', input: given, output: result });
    const parts = seen.type === 'content' ? seen.value : [{ type: 'text', text: JSON.stringify(seen.value) }];
    const texts = parts.filter((part) => part.type === 'text').map((part) => part.text);
    return {
      text: texts.join('\n'),
      images: parts.filter((part) => /image|file|media/.test(part.type)).length,
      structured: 0,
      error: result.isError === true,
      progress: null,
    };
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
