import { expect, vi } from 'vitest';
import { discoverGuards } from '../../host/contracts/guard.ts';
import { openGuards } from '../../host/turns/tool-calls/guarded-calls.ts';
import type { HostToolResult } from '../../sandbox/sandbox.ts';
import {
  type AgentScript,
  type AssistantParts,
  answers,
  type TestProject,
  textsOf,
} from '../assistant.ts';
import type { ContributionFolder } from '../contributions.ts';
import { FAMILY, startWithFamily } from './tasks.ts';

const IMPORTS = `import { z } from 'zod';
import { defineGuard } from 'src/host/contracts/guard.ts';\n`;

export const guardFile = (name: string, order: number, body: string) =>
  `${IMPORTS}export const guard = defineGuard({ name: '${name}', order: ${order}, ${body} });`;

export const ASKS = guardFile(
  'careful',
  200,
  `create: () => ({
    before: ({ tool, group }) => tool.name === 'send_message' && !group.isMain
      ? { kind: 'ask', reason: 'It writes by itself.' }
      : { kind: 'allow' },
  })`,
);

export const context = {
  dataDir: '/nowhere',
  groupsDir: '/nowhere',
  timeZone: 'UTC',
  log: { info() {}, warn() {}, error() {} },
  now: () => 0,
  newId: () => 'id',
};

/** The parts of a call that a turn has which read nothing from outside, and acts on nothing else. */
export const INSIDE = { turn: 't1', outside: null, elsewhere: null } as const;

export async function guardsOf(
  folder: ContributionFolder,
  environment: Record<string, string> = {},
) {
  const careless = { ...context, claw() {}, store: {} };
  return openGuards(await discoverGuards(folder.dir), environment, careless);
}

/** The family's agent calls tools, in a turn that ends when all of them have ended. */
export async function familyCalls(
  project: TestProject,
  over: AssistantParts['over'],
  calls: readonly [string, unknown][],
) {
  const results: HostToolResult[] = [];
  const agent: AgentScript = async ({ folder }, { onTool }) => {
    if (folder !== 'family') return answers('of course');
    const called = calls.map(([name, input]) => onTool({ folder, name, input }));
    results.push(...(await Promise.all(called)));
    return answers('done');
  };
  const assistant = await startWithFamily(project, agent, undefined, over);
  await assistant.chat.say('@Andy go', { jid: FAMILY, isDirect: false });
  return { ...assistant, results };
}

type Family = Awaited<ReturnType<typeof familyCalls>>;

/** Waits until the owner is asked in the main chat, and returns how. */
export async function question({ terminal }: Family, count = 1): Promise<string> {
  const asked = () => textsOf(terminal).filter((text) => text.endsWith('Allow it? Say yes or no.'));
  await vi.waitFor(() => expect(asked()).toHaveLength(count));
  return asked().at(-1) ?? '';
}

export const message = (text: string): [string, unknown] => ['send_message', { text }];
export const ALLOWED: HostToolResult = { ok: true, value: 'Queued for Family.' };
export const REFUSED: HostToolResult = {
  ok: false,
  value: 'The owner did not allow this call.',
  fault: 'not-allowed',
};
