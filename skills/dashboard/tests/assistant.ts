import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { discoverCommands, openCommands } from '../../../src/host/contracts/command.ts';
import type { HostOptions } from '../../../src/host/contracts/options.ts';
import { discoverServices } from '../../../src/host/contracts/service.ts';
import { openServices } from '../../../src/host/services/services.ts';
import { type AgentScript, answers, TestProject } from '../../../src/testing/assistant.ts';

export const FAMILY = 'chat:family';

/** Settings of the project, one of them secret. */
const ENV = 'ASSISTANT_NAME=Andy\nANTHROPIC_API_KEY=sk-very-secret-value\n';
const EXAMPLE =
  '# What the assistant is called\nASSISTANT_NAME=Andy\n\n# A key\nANTHROPIC_API_KEY=\n';

/** A skill that the panel of the code can plan. */
const DICE = {
  'skills/dice/manifest.yaml':
    'skill: dice\nversion: 1.0.0\ndescription: Throws dice\ncore_version: 0.0.0\n',
  'skills/dice/SKILL.md': '---\nname: dice\ndescription: Throws dice\n---\n',
  'skills/dice/add/src/dice.ts': 'export const sides = 6;\n',
};

export type Served = Awaited<ReturnType<typeof serveDashboard>>;

/** Starts an assistant with the page, a group beside the owner's chat, and the test in place of agents. */
export async function serveDashboard(
  agent: AgentScript = async () => answers('pong'),
  origins = '',
  { files = {}, ...beside }: Beside = {},
) {
  return await serveOn(openProject(files), agent, { origins, ...beside });
}

/** A project on which the page is served; its folder may be filled before. */
export function openProject(files: Beside['files'] = {}): TestProject {
  return new TestProject({
    '.env': ENV,
    '.env.example': EXAMPLE,
    'package.json': '{"name":"tree","version":"0.1.0"}\n',
    'groups/main/CLAUDE.md': '# Notes\n\n- likes tea\n',
    ...DICE,
    ...files,
  });
}

/** Starts an assistant with the page on a project, which goes with it. */
export async function serveOn(
  project: TestProject,
  agent: AgentScript = async () => answers('pong'),
  {
    origins = '',
    settings = {},
    now,
    silentChannels = [],
  }: { readonly origins?: string } & Omit<Beside, 'files'> = {},
) {
  const services = (await discoverServices()).filter(({ name }) => name === 'dashboard');
  const commands = openCommands(await discoverCommands(), {}).commands;
  const environment = origins === '' ? settings : { ...settings, PAGE_ORIGINS: origins };
  const assistant = await project.start({
    agent,
    environment,
    over: {
      services: openServices(services, environment).services,
      commands,
      silentChannels,
      ...(now === undefined ? {} : { now }),
    },
  });
  const { store, terminal } = assistant;
  store.chats.see({ jid: FAMILY, channel: 'chat', name: 'Family', isDirect: false }, 1);
  const group = { jid: FAMILY, folder: 'family', name: 'Family', triggerWord: null };
  store.groups.register({ ...group, needsTrigger: true, isMain: false }, 1);

  /** Asks for a link in the owner's chat, as they do. */
  async function link(scope = ''): Promise<string> {
    const before = terminal.sent.length;
    for (;;) {
      await terminal.say(`/dashboard ${scope}`);
      while (terminal.sent.length === before) await new Promise((done) => setTimeout(done, 5));
      const [found] = /http:\/\/\S+/.exec(terminal.sent.at(-1)?.text ?? '') ?? [];
      if (found !== undefined) return found;
      // The service starts with the assistant, and may not be there yet.
      terminal.sent.length = before;
    }
  }

  const origin = new URL(await link()).origin;

  async function begin(path: string, asked: Asked = {}): Promise<IncomingMessage> {
    const { method = 'GET', headers = {}, body } = asked;
    const { hostname: host, port, host: name } = new URL(origin);
    const sent = httpRequest({
      host,
      port,
      path: `/dashboard${path}`,
      method,
      agent: false,
      headers: { host: name, ...headers },
    });
    sent.on('error', () => {});
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = await once(sent, 'response');
    return response;
  }

  async function ask(path: string, asked: Asked = {}) {
    const response = await begin(path, asked);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    return { status: response.statusCode ?? 0, headers: response.headers, text };
  }

  /** Lets a browser in by a link, and returns the headers that it sends from then on. */
  async function enter(scope = '') {
    const body = { code: new URL(await link(scope)).hash.slice(1), name: 'Test' };
    const { headers } = await ask('/enter', { method: 'POST', body });
    return { cookie: (headers['set-cookie']?.[0] ?? '').split(';', 1)[0] ?? '' };
  }

  return {
    ...assistant,
    project,
    origin,
    link,
    ask,
    begin,
    enter,
    async [Symbol.asyncDispose]() {
      await assistant.stop();
      project[Symbol.dispose]();
    },
  };
}

/** Files of the project beside those of every test, and settings of the assistant. */
type Beside = {
  readonly files?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, string>>;
  readonly now?: () => number;
  readonly silentChannels?: NonNullable<HostOptions['silentChannels']>;
};

type Asked = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};
