import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { readSettings, type Settings } from '../config.ts';
import type { Model } from '../model/model.ts';
import type { TokenCounts } from '../model/tokens.ts';
import { bundleAgent } from '../sandbox/agent-link/bundle.ts';
import { openSandbox } from '../sandbox/open.ts';
import type {
  FollowUp,
  HostTool,
  Sandbox,
  SandboxOptions,
  TurnEvents,
  TurnOutcome,
  TurnRequest,
} from '../sandbox/sandbox.ts';
import { TEST_DAEMON } from './engine.ts';
import {
  type AnthropicScript,
  type AnthropicServer,
  lastToolResults,
  lastUserText,
  startAnthropicServer,
} from './model/anthropic.ts';
import { testModel } from './model/test-model.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');

/** A key that can be looked for in places where it must not be. */
export const TEST_KEY = 'sk-ant-test-4f2b9c81d07e';

export type SandboxProjectParts = {
  readonly engine: 'docker' | 'bubblewrap';
  readonly script?: AnthropicScript;
  readonly tools?: readonly HostTool[];
  /** Answers instead of the script's server. */
  readonly model?: Model;
  readonly settings?: Partial<Settings>;
  readonly options?: Partial<SandboxOptions>;
  /** Files beside the copy of this repository's agent, or instead of parts of it. */
  readonly files?: Readonly<Record<string, string>>;
};

/** A project of its own with a sandbox on a real engine, and a model's server that follows a script. */
export type SandboxProject = AsyncDisposable & {
  readonly dir: string;
  readonly dataDir: string;
  readonly server: AnthropicServer;
  readonly model: Model;
  /** The settings of an assistant that asks the script's server. */
  readonly environment: Readonly<Record<string, string>>;
  readonly sandbox: Sandbox;
  /** Read at the start of each turn: an agent that is up may be given less time than one that starts. */
  readonly settings: { idleMs: number };
  /** Tokens of each call of the model, with the folder of the group whose turn it was. */
  readonly charges: readonly { readonly folder: string; readonly counts: TokenCounts | null }[];
  turn(prompt: string, over?: Partial<TurnOver>): Promise<TurnOutcome>;
  /** The text of an answered turn; anything else is an error. */
  answer(prompt: string, over?: Partial<TurnOver>): Promise<string>;
};

type TurnOver = {
  readonly folder: string;
  readonly isMain: boolean;
  readonly session: string | null;
  readonly isBeside: boolean;
  readonly pictures: NonNullable<TurnRequest['pictures']>;
  readonly onText: (delta: string) => void;
  readonly onReady: (send: (followUp: FollowUp) => boolean) => void;
  readonly onAccepted: (id: string) => void;
  readonly onAsk: TurnEvents['onAsk'];
  readonly onOwnTool: TurnEvents['onOwnTool'];
  readonly onOwnToolRun: TurnEvents['onOwnToolRun'];
  readonly guardedOwnTools: TurnRequest['guardedOwnTools'];
  readonly ownToolsOff: TurnRequest['ownToolsOff'];
  readonly sections: NonNullable<TurnRequest['sections']>;
  readonly onTool: TurnEvents['onTool'];
};

/** Makes the project, with `groups/family`, `groups/other` and a `.env` that no agent should see. */
export async function sandboxProject(parts: SandboxProjectParts): Promise<SandboxProject> {
  const dir = await mkdtemp(join(tmpdir(), 'claw-sandbox-'));
  const dataDir = parts.settings?.dataDir ?? join(dir, 'data');
  await layOut(dir, dataDir, parts.files ?? {});
  if (!Object.keys(parts.files ?? {}).some(isOfAgent)) await bringBundle(dir, dataDir);
  const server = await startAnthropicServer(parts.script ?? shellScript);
  const model =
    parts.model ??
    testModel({
      baseUrl: server.url,
      key: TEST_KEY,
      contextTokens: parts.settings?.modelContext ?? null,
    });
  const charges: SandboxProject['charges'][number][] = [];
  const read = settings(dataDir, parts);
  const opened = await openSandbox({
    projectDir: dir,
    settings: read,
    homeDir: homedir(),
    elapsed: () => performance.now(),
    now: Date.now,
    onProgress: () => {},
    ...parts.options,
  });
  if (opened.kind === 'unavailable') {
    await server.close();
    await rm(dir, { recursive: true, force: true });
    throw new Error(opened.advice);
  }
  const { sandbox } = opened;
  let turns = 0;
  const turn: SandboxProject['turn'] = (prompt, over = {}) => {
    turns += 1;
    const { folder = 'family', isMain = false, session = null } = over;
    const { isBeside = false, pictures = [] } = over;
    const {
      onText = () => {},
      onReady = () => {},
      onAccepted = () => {},
      onAsk,
      onOwnTool,
      onOwnToolRun,
      guardedOwnTools,
      ownToolsOff,
      sections = {},
      onTool = async () => ({ ok: false, value: 'none' }),
    } = over;
    const request = {
      id: `turn-${turns}`,
      folder,
      isMain,
      session,
      isBeside,
      models: [model] as const,
      system: 'You are Andy.',
      sections,
      prompt,
      pictures,
      tools: parts.tools ?? [],
      guardedOwnTools,
      ownToolsOff,
    };
    const charge = (counts: TokenCounts | null) => void charges.push({ folder, counts });
    const onModelCall = async () => ({ kind: 'admitted', charge }) as const;
    const events = {
      onText,
      onTool,
      onAsk,
      onOwnTool,
      onOwnToolRun,
      onReady,
      onAccepted,
      onModelCall,
    };
    return sandbox.runTurn(request, events);
  };
  return {
    dir,
    dataDir,
    server,
    model,
    environment: {
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: TEST_KEY,
      MODEL: 'anthropic/claude-test',
    },
    sandbox,
    settings: read,
    charges,
    turn,
    async answer(prompt, over) {
      const outcome = await turn(prompt, over);
      if (outcome.kind === 'answered') return outcome.text;
      throw new Error(`${outcome.code}: ${outcome.message}`);
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await server.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Runs `shell: <command>` in the container and answers with its output; anything else is repeated. */
export const shellScript: AnthropicScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return [{ type: 'text', text: results.join('\n') }];
  const [, command] = /^shell: (.*)$/s.exec(lastUserText(request)) ?? [];
  if (command === undefined) return [{ type: 'text', text: `You said: ${lastUserText(request)}` }];
  return [{ type: 'tool_use', name: 'shell', input: { command } }];
};

async function layOut(
  dir: string,
  dataDir: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const part of ['container', 'src/lib', 'src/sandbox', 'package.json']) {
    await cp(join(REPOSITORY, part), join(dir, part), { recursive: true });
  }
  await symlink(join(REPOSITORY, 'node_modules'), join(dir, 'node_modules'));
  const given = {
    '.env': `ANTHROPIC_API_KEY=${TEST_KEY}\n`,
    'groups/family/CLAUDE.md': 'The family likes short answers.\n',
    'groups/other/secret.txt': 'the secret of the other group\n',
    'groups/global/CLAUDE.md': 'Everybody speaks English.\n',
    'groups/main/CLAUDE.md': 'The owner is Ada.\n',
    ...files,
  };
  for (const [path, text] of Object.entries(given)) {
    await mkdir(join(dir, path, '..'), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  await mkdir(dataDir, { recursive: true });
  await writeFile(join(dataDir, 'claw.db'), 'all messages of all groups');
}

function isOfAgent(path: string): boolean {
  return /^(container|src)\//.test(path);
}

/** Bundles the agent of this tree once for all tests of a run, and copies that. */
async function bringBundle(dir: string, dataDir: string): Promise<void> {
  const bundle = await bundleAgent(dir, join(tmpdir(), 'claw-agents'));
  await cp(bundle, join(dataDir, 'cache', basename(bundle)), { recursive: true });
}

function settings(dataDir: string, parts: SandboxProjectParts): Settings {
  return {
    // Defaults first: a skill that adds a setting must not break the tests of the core.
    ...readSettings({}, dataDir),
    dataDir,
    sandbox: parts.engine === 'docker' ? TEST_DAEMON.name : parts.engine,
    turnTimeoutMs: 1_800_000, // Only a hang takes so long.
    ...parts.settings,
  };
}
