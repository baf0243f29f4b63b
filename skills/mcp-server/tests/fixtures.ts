import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { vi } from 'vitest';
import { readAddress, readToken } from '../../../src/http/files.ts';
import {
  type AssistantParts,
  answers,
  type TestAssistant,
  TestProject,
} from '../../../src/testing/assistant.ts';

export type Served = AsyncDisposable & {
  readonly project: TestProject;
  readonly assistant: TestAssistant;
  readonly dataDir: string;
  readonly url: string;
  readonly token: string;
};

/** Starts an assistant with the chat Family, which has a memory and a history. */
export async function serve(
  project = new TestProject(),
  parts: AssistantParts = {},
): Promise<Served> {
  const assistant = await project.start({
    ...parts,
    agent: async ({ prompt }) => answers(`heard ${prompt.length > 0}`),
  });
  const { chat, terminal } = assistant;
  const dataDir = join(project.dir, 'data');
  await vi.waitFor(() => {
    if (
      !assistant.store.services
        .all()
        .some(({ name, state }) => name === 'mcp-server' && state === 'running')
    )
      throw new Error('not listening yet');
  });
  await chat.meet('chat:f', 'Family');
  await terminal.say('/register Family always');
  await vi.waitFor(() => {
    if (assistant.store.groups.byFolder('family') === null) throw new Error('not registered yet');
  });
  const memory = join(project.dir, 'groups/family');
  mkdirSync(memory, { recursive: true });
  writeFileSync(join(memory, 'CLAUDE.md'), 'Bob eats no fish.');
  await chat.say('The plumber comes on Tuesday', {
    jid: 'chat:f',
    isDirect: false,
    chatName: 'Family',
  });
  await vi.waitFor(() => {
    if (chat.sent.length === 0) throw new Error('not answered yet');
  });
  const url = `${readAddress(dataDir)}/mcp-server/mcp`;
  return {
    project,
    assistant,
    dataDir,
    url,
    token: readToken(dataDir),
    async [Symbol.asyncDispose]() {
      await assistant.stop();
      project[Symbol.dispose]();
    },
  };
}

/** Connects a client of the protocol's own library. */
export async function connect({ url, token }: Pick<Served, 'url' | 'token'>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return client;
}
