import { afterEach, expect, test, vi } from 'vitest';
import { createToolHooks } from '../../../container/agent/claude-agent/tool-hooks.ts';
import { GuardedTools } from '../../../container/agent/host/guarded-tools.ts';
import { HostTools } from '../../../container/agent/host/host-tools.ts';
import { reported } from '../../../container/agent/host/reported-tool.ts';
import { tool as shell } from '../../../container/agent/tools/shell.ts';
import type { AgentFrame, TurnFrame } from '../../../src/sandbox/protocol/frames.ts';

const FRAME: TurnFrame = {
  type: 'turn',
  id: 't1',
  session: null,
  system: '',
  prompt: '',
  model: { protocol: 'messages', model: 'claude-test', contextTokens: 1_000, callsTools: true },
  tools: [],
  maxRounds: 5,
  guarded: ['shell'],
};

afterEach(() => vi.restoreAllMocks());

/** Opens the hooks with a host that answers a check by `decide`, and a result by masking it. */
function openHooks(decide: (input: unknown) => { isAllowed: boolean; seesResult: boolean }) {
  const sent: AgentFrame[] = [];
  const send = (frame: AgentFrame): boolean => {
    sent.push(frame);
    if (frame.type === 'tool_check') {
      const { isAllowed, seesResult } = decide(frame.input);
      const reason = 'Not that one.';
      guardedTools.receive({ type: 'tool_verdict', id: frame.id, isAllowed, reason, seesResult });
    } else if (frame.type === 'tool_began') {
      const noted = { type: 'tool_result', id: frame.id, ok: true, value: null } as const;
      queueMicrotask(() => hostTools.receive(noted));
    } else if (frame.type === 'tool_ran') {
      const value = frame.value.replace('secret', '***');
      queueMicrotask(() =>
        hostTools.receive({ type: 'tool_result', id: frame.id, ok: frame.ok, value }),
      );
    }
    return true;
  };
  const hostTools = new HostTools(send);
  const guardedTools = new GuardedTools(send, hostTools);
  const hooks = createToolHooks(FRAME, {
    guardedTools,
    tools: [shell],
    announce: (tool) => reported(tool, { turn: FRAME.id, send, hostTools }),
  });
  return { hooks, sent };
}

const bash = (command: string) => ({
  tool_name: 'Bash',
  tool_use_id: 'u1',
  tool_input: { command, description: 'tries something' },
});
const named = (sent: readonly AgentFrame[], type: AgentFrame['type']) =>
  sent.filter((frame) => frame.type === type);

test('a command that a guard refuses does not run, and the model is told why', async () => {
  const { hooks, sent } = openHooks(() => ({ isAllowed: false, seesResult: false }));
  expect(await hooks.before(bash('rm -rf /'))).toEqual({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: 'Not that one.',
    },
  });
  expect(sent).toMatchObject([
    { type: 'tool_check', name: 'shell', input: { command: 'rm -rf /' } },
  ]);
});

test('one that is allowed is told to the host from its beginning to its end', async () => {
  const { hooks, sent } = openHooks(() => ({ isAllowed: true, seesResult: true }));
  expect(await hooks.before(bash('cat keys'))).toMatchObject({
    hookSpecificOutput: {
      permissionDecision: 'allow',
      updatedInput: { command: '(\ncat keys\n)\necho "[exit code $?]"' },
    },
  });
  expect(named(sent, 'tool_began')).toMatchObject([{ name: 'shell', doing: 'running a command' }]);
  const tool_response = { stdout: 'a secret', stderr: 'and more', interrupted: false };
  expect(await hooks.after({ ...bash('cat keys'), tool_response })).toEqual({
    hookSpecificOutput: {
      hookEventName: 'PostToolUse',
      updatedToolOutput: { stdout: 'a ***\nand more', stderr: '', interrupted: false },
    },
  });
  expect(named(sent, 'tool_ended')).toMatchObject([{ ok: true }]);
});

test('a failure, and a turn that is over, end what was begun', async () => {
  const { hooks, sent } = openHooks(() => ({ isAllowed: true, seesResult: false }));
  await hooks.before(bash('false'));
  await hooks.afterFailure({ ...bash('false'), error: 'Exit code 1' });
  expect(named(sent, 'tool_ended')).toMatchObject([{ ok: false, error: 'Exit code 1' }]);
  await hooks.before({ ...bash('sleep 1000'), tool_use_id: 'u2' });
  hooks.end();
  await vi.waitFor(() => expect(named(sent, 'tool_ended')).toHaveLength(2));
});

test('a call that cannot be read is refused, and one of the host passes to its own guards', async () => {
  const { hooks, sent } = openHooks(() => ({ isAllowed: true, seesResult: false }));
  const odd = { tool_name: 'Bash', tool_use_id: 'u1', tool_input: { command: 7 } };
  expect(await hooks.before(odd)).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'deny' },
  });
  const note = { tool_name: 'note', tool_use_id: 'u1', tool_input: {} };
  expect(await hooks.before(note)).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'allow' },
  });
  expect(sent).toEqual([]);
});
