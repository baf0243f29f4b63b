import { expect, it } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { lastToolResults, lastUserText } from '../../testing/model/anthropic.ts';
import { PromptCache } from '../../testing/model/prompt-cache.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';

const MINUTE_MS = 60_000;
const NOTE = 'Now: ';

/** Tells whether a message is the person's, and no result of a tool. */
function isQuestion(content: unknown): boolean {
  return JSON.stringify(content).includes('Please do thing number');
}

await describeWithEngine('bubblewrap', 'the cache of a model server', () => {
  it('has four fifths of what is read in a conversation of 30 turns with tools', async () => {
    let now = 0;
    const cache = new PromptCache(() => now);
    let [read, all] = [0, 0];
    let rounds = 0;
    const beginnings = new Set<string>();
    let isLast = true;
    await using sandboxed = await sandboxProject({
      engine: 'bubblewrap',
      files: { 'groups/family/CLAUDE.md': 'The family likes short answers.\n'.repeat(300) },
      script(request) {
        const counts = cache.count(request.sent);
        const { system, tools, messages } = request.body;
        beginnings.add(JSON.stringify([tools, system]));
        const asked = messages.findLastIndex(({ content }) =>
          JSON.stringify(content).includes(NOTE),
        );
        // What changes stands with the question, behind everything that was said before.
        isLast &&= messages.slice(asked + 1).every(({ content }) => !isQuestion(content));
        read += counts.read;
        all += counts.read + counts.written + counts.plain;
        now += 2_000;
        if (lastToolResults(request).length === 0)
          rounds = Number(lastUserText(request).at(-1)) % 4;
        else rounds -= 1;
        if (rounds <= 0) return [{ type: 'text', text: `That is done. ${'word '.repeat(40)}` }];
        return Array.from({ length: rounds === 3 ? 12 : 1 }, (_, at) => ({
          type: 'tool_use' as const,
          name: 'shell',
          input: { command: `echo ${at}; head -c 400 /dev/zero | tr '\\0' x` },
        }));
      },
    });
    let session: string | null = null;
    for (let turn = 0; turn < 30; turn += 1) {
      const outcome = await sandboxed.sandbox.runTurn(
        {
          id: `turn-${turn}`,
          folder: 'family',
          isMain: false,
          session,
          models: [sandboxed.model],
          system: 'You are Andy.',
          notes: `${NOTE}${new Date(now).toISOString()}.`,
          prompt: `Please do thing number ${turn}`,
          tools: [],
        },
        {
          onTool: async () => ({ ok: false, value: null }),
          onModelCall: async () => ({ kind: 'admitted', charge: () => {} }),
        },
      );
      if (outcome.kind !== 'answered') throw new Error(outcome.message);
      session = outcome.session;
      now += MINUTE_MS;
    }
    expect(sandboxed.server.requests.length).toBeGreaterThan(60);
    expect(read / all).toBeGreaterThan(0.8);
    // Tools and the system prompt come first, and nothing in them changes.
    expect([...beginnings]).toEqual([expect.not.stringContaining(NOTE)]);
    expect(isLast).toBe(true);
  });
});
