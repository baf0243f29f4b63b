import { expect, test, vi } from 'vitest';
import type { AnswerEnd } from '../../lib/answer-end.ts';
import {
  type AgentScript,
  type AssistantParts,
  answers,
  type TestAssistant,
  TestProject,
  textsOf,
} from '../../testing/assistant.ts';
import { killAt } from '../../testing/kill.ts';
import { DOLLAR_A_MILLION, spender } from '../../testing/turn/spender.ts';
import { FAMILY } from '../../testing/turn/tasks.ts';

/** A way in which a turn ends, and what whoever asked is told then. */
type End = {
  readonly end: AnswerEnd;
  readonly words: RegExp;
  readonly parts?: () => AssistantParts;
  /** Brings the assistant to the point where the question ends like this. */
  readonly before?: (assistant: TestAssistant, jid: string) => Promise<void>;
  /** Is done while the turn runs. */
  readonly meanwhile?: (assistant: TestAssistant, jid: string) => Promise<void>;
};

const fails =
  (reason: 'down' | 'rejected'): AgentScript =>
  async () => ({ kind: 'failed', code: 'MODEL_FAILED', message: 'It broke.', reason });

const ENDS: Readonly<Record<string, End>> = {
  answered: { end: 'answered', words: /pong/ },
  empty: {
    end: 'answered',
    words: /ended without an answer/,
    parts: () => ({ agent: async () => answers('') }),
  },
  failed: { end: 'failed', words: /again/, parts: () => ({ agent: fails('down') }) },
  'rejected by the server': {
    end: 'rejected',
    words: /left out|cannot be answered|refused/,
    parts: () => ({ agent: fails('rejected') }),
  },
  'budget used up': {
    end: 'budget-used-up',
    words: /used up what I may spend/,
    parts: () => ({
      agent: spender().agent,
      environment: { ...DOLLAR_A_MILLION, BUDGET_USD: '1' },
    }),
    async before(assistant, jid) {
      await ask(assistant, jid, '@Andy spend 150');
      await vi.waitFor(() => expect(assistant.store.turns.counts()).toMatchObject(IDLE));
    },
  },
  stopped: {
    end: 'stopped',
    words: /Stop/,
    parts: () => ({ agent: untilStopped }),
    async meanwhile({ terminal, store }, jid) {
      await vi.waitFor(() => expect(store.turns.counts().running).toBe(1));
      await terminal.say(jid === FAMILY ? '/stop family' : '/stop');
      stopNow?.();
    },
  },
  'no model key': {
    end: 'no-model',
    words: /model|cannot be answered/,
    parts: () => ({ environment: { ANTHROPIC_API_KEY: '' } }),
  },
  'no sandbox': {
    end: 'no-sandbox',
    words: /Install bubblewrap|cannot be answered/,
    parts: () => {
      const open = async () => ({ kind: 'unavailable' as const, advice: 'Install bubblewrap.' });
      return {
        over: { sandbox: { open, stop: async () => {}, warm: () => 0, close: async () => {} } },
      };
    },
  },
};

const IDLE = { queued: 0, running: 0, unsent: 0 };
let stopNow: (() => void) | null = null;

/** Ends as an agent does whose container is stopped. */
function untilStopped(): ReturnType<AgentScript> {
  return new Promise((resolve) => {
    stopNow = () => resolve({ kind: 'failed', code: 'AGENT_DIED', message: 'It died.' });
  });
}

const CHATS = ['terminal:main', FAMILY];
const cases = Object.entries(ENDS).flatMap(([name, end]) =>
  CHATS.map((jid) => ({ name, end, jid })),
);

test.each(cases)(
  'a turn that ends as $name is told to $jid, in words and to its channel',
  async ({ end, jid }) => {
    using project = new TestProject();
    const assistant = await startWithFamily(project, end.parts?.());
    await end.before?.(assistant, jid);
    const told = endsOf(assistant, jid);
    const channel = channelOf(assistant, jid);
    const before = channel.sent.length;
    await ask(assistant, jid, '@Andy ping', 'ping');
    await end.meanwhile?.(assistant, jid);
    await vi.waitFor(() => expect(told.get('ping')).toBe(end.end));
    const texts = textsOf(channel).slice(before);
    // An earlier turn of the day may have said it in a chat that is not the owner's, which is told once a day.
    if (end.end === 'budget-used-up' && jid === FAMILY) texts.unshift(...textsOf(channel));
    expect(texts.join('\n')).toMatch(end.words);
    await assistant.stop();
  },
);

test.each(CHATS)('a turn that is given up after three crashes is told to %s', async (jid) => {
  using project = new TestProject();
  await (await startWithFamily(project)).stop();
  const from = jid === FAMILY ? 'chat' : 'terminal';
  const dies = `
    const assistant = await startAssistant(dir, { agent: () => (now(), never()) });
    await assistant.${from}.say('@Andy ping', { id: 'ping', jid: '${jid}', isDirect: ${from === 'terminal'} });`;
  for (let time = 0; time < 3; time++) await killAt(project, dies);
  const assistant = await project.start();
  await vi.waitFor(() => expect(textsOf(channelOf(assistant, jid)).join()).toContain('given up'));
  await assistant.stop();
});

async function startWithFamily(project: TestProject, parts?: AssistantParts) {
  const assistant = await project.start(parts);
  const { chats, groups } = assistant.store;
  chats.see({ jid: FAMILY, channel: 'chat', name: 'Family', isDirect: false }, 1);
  const group = { jid: FAMILY, folder: 'family', name: 'Family', triggerWord: null };
  groups.register({ ...group, needsTrigger: true, isMain: false }, 1);
  return assistant;
}

function channelOf({ terminal, chat }: TestAssistant, jid: string) {
  return jid === FAMILY ? chat : terminal;
}

function ask(assistant: TestAssistant, jid: string, text: string, id?: string): Promise<void> {
  const over = { jid, isDirect: jid !== FAMILY, ...(id === undefined ? {} : { id }) };
  return channelOf(assistant, jid).say(text, over);
}

/** Returns by message the end that the channel is told. */
function endsOf(assistant: TestAssistant, jid: string): ReadonlyMap<string, AnswerEnd> {
  const told = new Map<string, AnswerEnd>();
  Object.assign(channelOf(assistant, jid), {
    answered: (_jid: string, ids: readonly string[], end: AnswerEnd) => {
      for (const id of ids) told.set(id, end);
    },
  });
  return told;
}
