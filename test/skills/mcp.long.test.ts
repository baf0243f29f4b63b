import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { execa } from 'execa';
import pLimit from 'p-limit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../src/testing/free-port.ts';
import { Assistant } from '../story/assistant.ts';
import { type Clone, cloneWithoutProof } from '../story/clone.ts';

// The public counterparts of both skills. npm fetches them, so this needs a registry, and is not part of a proof.
const COUNTERPARTS = [
  '@modelcontextprotocol/conformance@0.1.16',
  '@modelcontextprotocol/server-everything@2026.8.31',
  '@modelcontextprotocol/inspector@2.12.0',
];
const MINUTES = 20 * 60_000;

/** Scenarios of the suite that ask for more than the skill has, and why. */
const NOT_SPOKEN: Readonly<Record<string, string>> = {
  'auth/basic-cimd': 'needs an address of the public web that describes the client',
  'auth/cross-app-access-complete-flow': 'an extension: a login by another company’s',
};

const JSON_RESULTS = 'a host tool returns a text or JSON, and no pictures, sounds or resources';
const NO_OWN_RESOURCES = 'resources are the assistant’s own; no file of a skill adds some';
const OWNER_IS_ASKED =
  'questions go to the owner in their chat, and never to the program that calls';

/** Scenarios that ask a server for more than the skill has, and why. */
const NOT_SERVED: Readonly<Record<string, string>> = {
  'tools-call-image': JSON_RESULTS,
  'tools-call-audio': JSON_RESULTS,
  'tools-call-embedded-resource': JSON_RESULTS,
  'tools-call-mixed-content': JSON_RESULTS,
  'tools-call-sampling': 'the assistant has models of its own, and asks none of the program’s',
  'tools-call-elicitation': OWNER_IS_ASKED,
  'elicitation-sep1034-defaults': OWNER_IS_ASKED,
  'elicitation-sep1330-enums': OWNER_IS_ASKED,
  'server-sse-polling': 'a tool cannot end the stream of its call in the middle',
  'resources-read-binary': NO_OWN_RESOURCES,
  'prompts-get-embedded-resource': NO_OWN_RESOURCES,
  'prompts-get-with-image': 'prompts are the owner’s Markdown files, which are text',
};

const ASKED = '"name":"send_message","arguments":{"text":"hello"}';
/**
 * Resources and calls of the suite's, and those of the assistant's that do what they ask for: a call that the owner is
 * asked about tells its steps and the wait.
 */
const AS_OWN: Readonly<Record<string, string>> = {
  'test://static-text': 'patchclaw://groups',
  'test://template/123/data': 'patchclaw://memory/main',
  '"name":"test_tool_with_logging","arguments":{}': ASKED,
  '"name":"test_tool_with_progress","arguments":{}': ASKED,
};

/** Calls that the owner allows, after so many notices of progress. */
const ALLOWED_AFTER: Readonly<Record<string, number>> = {
  'tools-call-with-logging': 0,
  'tools-call-with-progress': 3,
};

/** The suite's own tools and prompts, as an owner would add them: a file of tools, and files of prompts. */
const OF_THE_SUITE: Readonly<Record<string, string>> = {
  'src/tools/suite.ts': `import { z } from 'zod';
import { defineTools, type Tool } from '../host/contracts/tool.ts';

const made = (name: string, inputSchema: object, run: () => Promise<string>): Tool => ({
  name,
  description: 'A tool of the conformance suite.',
  isMainOnly: false,
  input: z.unknown(),
  inputSchema: { ...inputSchema, type: 'object' },
  run,
});
const street = { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } };
const TOOLS = [
  made('test_simple_text', {}, async () => 'This is a simple text response for testing.'),
  made('test_error_handling', {}, async () => {
    throw new Error('This tool intentionally returns an error for testing');
  }),
  made(
    'json_schema_2020_12_tool',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { address: street },
      properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
      additionalProperties: false,
    },
    async () => 'ok',
  ),
];

export const tool = defineTools({ name: 'suite', create: () => () => TOOLS });
`,
  'groups/main/CLAUDE.md': '- The suite asks for 123.\n',
  'groups/main/prompts/test_simple_prompt.md': 'This is a simple prompt for testing.\n',
  'groups/main/prompts/test_prompt_with_arguments.md':
    "Prompt with arguments: arg1='{{arg1}}', arg2='{{arg2}}'\n",
};

let clone: Clone;
let far: string;

beforeAll(async () => {
  clone = cloneWithoutProof({ MCP_SERVER_TOOLS: 'test_*, json_*' });
  clone.write(OF_THE_SUITE);
  // The files of a group without a database look like an assistant that has lost its own.
  expect(await clone.claw('repair', '--empty')).toMatchObject({ code: 0 });
  far = mkdtempSync('/tmp/claw-mcp-far-');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', far, ...COUNTERPARTS], {
    stdio: 'ignore',
  });
  const run = await clone.claw('apply', 'mcp', 'mcp-server');
  expect(run).toMatchObject({ code: 0, json: { outcome: 'done' } });
}, MINUTES);
afterAll(async () => {
  await clone?.[Symbol.asyncDispose]();
  rmSync(far, { recursive: true, force: true });
});

const run = async (...args: readonly string[]) =>
  await execa(clone.nodePath, args, { cwd: clone.root, reject: false, timeout: MINUTES });
/** Prints how many scenarios pass, as the pages of both skills say it. */
function tell(side: string, names: readonly string[], failed: readonly string[]): void {
  process.stdout.write(
    `${side}: ${names.length - failed.length} of ${names.length} scenarios pass\n`,
  );
}
const program = (name: string) => join(far, 'node_modules/.bin', name);
const CLIENT = 'skills/mcp/tests/conformance-client.ts';

test(
  'the client passes the scenarios of the conformance suite, but for those that it does not speak',
  async () => {
    const { stdout } = await run(program('conformance'), 'list', '--client');
    const names = stdout.split('Client scenarios')[1]?.match(/(?<=- )[\w/-]+/g) ?? [];
    expect(names).toHaveLength(26);
    const passes = async (name: string): Promise<boolean> => {
      const command = `${clone.nodePath} ${clone.path(CLIENT)}`;
      const how = ['client', '--command', command, '--scenario', name];
      const { stdout, stderr } = await run(program('conformance'), ...how);
      return `${stdout}${stderr}`.includes('OVERALL: PASSED');
    };
    const limit = pLimit(4);
    const ran = await limit.map(names, async (name) => ({ name, ok: await passes(name) }));
    // One of them measures how soon the client is back, and is late beside others: it runs once more, alone.
    const failed: string[] = [];
    for (const { name, ok } of ran) if (!ok && !(await passes(name))) failed.push(name);
    tell('client', names, failed);
    expect(failed.toSorted()).toEqual(Object.keys(NOT_SPOKEN).toSorted());
  },
  MINUTES,
);

test(
  'the public server of the protocol is used on its streams and by HTTP',
  async () => {
    const script = join(far, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
    const port = await freePort();
    const http = execa(clone.nodePath, [script, 'streamableHttp'], {
      env: { PORT: String(port) },
      reject: false,
    });
    try {
      for (const place of [script, `http://127.0.0.1:${port}/mcp`]) {
        const { stdout } = await run('skills/mcp/tests/everything-client.ts', place);
        const { tools, results } = JSON.parse(stdout);
        expect(tools.length).toBeGreaterThan(10);
        expect(results).toMatchObject({
          '0 far__echo': 'Echo: hello',
          '1 far__get-sum': 'The sum of 2 and 3 is 5.',
          '2 far__get-tiny-image': expect.stringContaining('[image/png, 4 KB: /workspace/media/'),
          '3 far__get-structured-content': expect.stringContaining('"temperature"'),
          '4 far__trigger-long-running-operation': expect.stringContaining('completed'),
          '5 far__get-resource-reference': expect.stringContaining('[resource demo://'),
          '6 far__trigger-elicitation-request': expect.stringContaining('"action": "decline"'),
          '7 far__get-sum': expect.stringMatching(/^error: .*Invalid arguments/),
        });
      }
    } finally {
      http.kill();
      await http;
    }
  },
  MINUTES,
);

test(
  'the assistant as a server: the inspector talks to `claw mcp`, and the suite to its address',
  async () => {
    await using assistant = await Assistant.start(clone);
    const inspect = async (...args: readonly string[]) => {
      const claw = [clone.nodePath, clone.path('bin/claw.js'), '--cwd', clone.root, 'mcp'];
      const { stdout } = await run(program('mcp-inspector'), '--cli', ...claw, ...args);
      return JSON.parse(stdout);
    };
    const { tools } = await inspect('--method', 'tools/list');
    expect(tools.map(({ name }: { name: string }) => name)).toContain('search_history');
    const search = ['--tool-name', 'search_history', '--tool-arg', 'query=boiler'];
    expect(await inspect('--method', 'tools/call', ...search)).toMatchObject({
      content: [{ text: expect.stringContaining('Nothing was found') }],
    });
    const { resources } = await inspect('--method', 'resources/list');
    expect(resources[0]).toMatchObject({ uri: 'patchclaw://groups' });
    await using proxy = await withToken(clone);
    const listed = await run(program('conformance'), 'list', '--server');
    const names = listed.stdout.match(/(?<=^ *- )[\w-]+/gm) ?? [];
    expect(names).toHaveLength(32);
    const failed: string[] = [];
    for (const scenario of names) {
      const how = ['server', '--url', proxy.url, '--scenario', scenario];
      const [from, told] = [assistant.stdout.length, proxy.progress()];
      const running = run(program('conformance'), ...how);
      const notices = ALLOWED_AFTER[scenario];
      if (notices !== undefined) {
        await assistant.until(() => assistant.stdout.slice(from).includes('wants to call'));
        await assistant.untilPrompt(from);
        await assistant.until(() => proxy.progress() - told >= notices);
        assistant.say('yes');
      }
      const { exitCode } = await running;
      if (exitCode !== 0) failed.push(scenario);
    }
    tell('server', names, failed);
    expect(failed.toSorted()).toEqual(Object.keys(NOT_SERVED).toSorted());
    expect(await assistant.end()).toBe(0);
  },
  MINUTES,
);

/** Shows the token for the suite, which cannot be told of one, and asks for the assistant's own in place of its names. */
async function withToken(
  from: Clone,
): Promise<AsyncDisposable & { readonly url: string; progress(): number }> {
  let progress = 0;
  const address = new URL(readFileSync(from.path('data/http/address'), 'utf8').trim());
  const token = readFileSync(from.path('data/http/token'), 'utf8').trim();
  const server: Server = createServer(async (incoming, outgoing) => {
    const asked = await text(incoming);
    const body = Object.entries(AS_OWN).reduce(
      (rest, [name, own]) => rest.replace(name, own),
      asked,
    );
    const { 'content-length': _, ...others } = incoming.headers;
    const headers: typeof incoming.headers = { ...others, authorization: `Bearer ${token}` };
    if (headers.host === own.host) headers.host = address.host;
    if (headers.origin === own.origin) headers.origin = address.origin;
    const { port, hostname: host } = address;
    const path = '/mcp-server/mcp';
    const passed = request({ host, port, path, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.on('data', (chunk: Buffer) => {
        progress += chunk.toString().split('notifications/progress').length - 1;
      });
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    passed.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  return {
    url: own.href,
    progress: () => progress,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}
