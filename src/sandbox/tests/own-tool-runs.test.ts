import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import { lastToolResults } from '../../testing/model/anthropic.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';
import type { OwnToolRun } from '../sandbox.ts';

await describeWithEngine('bubblewrap', 'the record of an agent’s own tools', () => {
  test('the host hears when each of them begins and ends, and why it failed', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      script: (request) =>
        lastToolResults(request).length === 0
          ? [
              { type: 'tool_use', name: 'shell', input: { command: 'echo done' } },
              { type: 'tool_use', name: 'read_file', input: { path: 'none.txt' } },
            ]
          : [{ type: 'text', text: 'ok' }],
    });
    const runs: OwnToolRun[] = [];
    await project.answer('go', { onOwnToolRun: (run) => void runs.push(run) });
    const names = new Map(
      runs.flatMap((run) => (run.kind === 'began' ? [[run.id, run.name]] : [])),
    );
    const doing = runs.flatMap((run) => (run.kind === 'began' ? [run.doing] : []));
    expect(doing.sort()).toEqual(['reading files', 'running a command']);
    expect([...names.values()].sort()).toEqual(['read_file', 'shell']);
    const ended = runs.flatMap((run) =>
      run.kind === 'ended' ? [[names.get(run.id), run.error]] : [],
    );
    expect(Object.fromEntries(ended)).toEqual({
      shell: null,
      read_file: expect.stringContaining('ENOENT'),
    });
  });

  test('a command begins once the host has noted it, however long that takes', async () => {
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      script: (request) =>
        lastToolResults(request).length === 0
          ? [{ type: 'tool_use', name: 'shell', input: { command: 'touch begun.txt' } }]
          : [{ type: 'text', text: 'ok' }],
    });
    const begun = join(project.dir, 'groups/family/begun.txt');
    const seen: boolean[] = [];
    await project.answer('go', {
      onOwnToolRun({ kind }) {
        // The time in which a command that did not wait would have done its work.
        if (kind === 'began') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
        seen.push(existsSync(begun));
      },
    });
    expect(seen).toEqual([false, true]);
  });

  test('S4-18: the model reads the kind of an error before its words', async () => {
    let read: readonly string[] = [];
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      tools: [{ name: 'send', description: 'Sends.', inputSchema: { type: 'object' } }],
      script: (request) => {
        read = lastToolResults(request);
        if (read.length > 0) return [{ type: 'text', text: 'ok' }];
        return [
          { type: 'tool_use', name: 'read_file', input: { path: 'none.txt' } },
          { type: 'tool_use', name: 'write_file', input: { path: '/etc/passwd', content: 'x' } },
          { type: 'tool_use', name: 'send', input: {} },
          { type: 'tool_use', name: 'list_files', input: {} },
        ];
      },
    });
    await project.answer('go', {
      guardedOwnTools: ['list_files'],
      onOwnTool: async () => ({ kind: 'refused', reason: 'Not today.' }),
      onTool: async () => ({ ok: false, value: 'It was late.', fault: 'timeout' }),
    });
    expect(read).toEqual([
      expect.stringMatching(/^not-found: ENOENT/),
      expect.stringMatching(/^not-allowed: (EROFS|EACCES|EPERM)/),
      'timeout: It was late.',
      'not-allowed: Not today.',
    ]);
  });
});
