import { z } from 'zod';
import type { TurnFrame } from '../../../src/sandbox/protocol/frames.ts';
import type { AgentTool, ToolContext } from '../agent-tool.ts';
import type { Announce, TurnParts } from '../turn.ts';
import { BUILT_IN, type BuiltInTool } from './built-in-tools.ts';
import type { Hook, HookOutput } from './sdk.ts';

/** Before and after a call of one of the SDK's own tools. */
export type ToolHooks = {
  readonly before: Hook;
  readonly after: Hook;
  readonly afterFailure: Hook;
  /** Ends what still runs when the turn is over. */
  end(): void;
};

/** A call that runs: its result goes in, and what the model may see of it comes out. */
type Run = {
  readonly builtIn: BuiltInTool;
  readonly ended: (result: string) => void;
  readonly failed: (reason: Error) => void;
  readonly shown: Promise<string>;
};

const Call = z.looseObject({
  tool_name: z.string(),
  tool_use_id: z.string(),
  tool_input: z.unknown().optional(),
  tool_response: z.unknown().optional(),
  error: z.string().default('It failed.'),
});
const Command = z.looseObject({ command: z.string() });

/**
 * Makes the hooks by which the host's guards see the SDK's own tools, as they see the agent's.
 *
 * A call that a guard has not allowed never runs: an error here is a refusal. The tools of the host and of
 * the agent pass, because their guards are asked where they run.
 */
export function createToolHooks(
  frame: TurnFrame,
  parts: Pick<TurnParts, 'guardedTools'> & {
    readonly tools: readonly AgentTool[];
    readonly announce: Announce;
  },
): ToolHooks {
  const runs = new Map<string, Run>();

  async function before(given: unknown): Promise<HookOutput> {
    const { tool_name, tool_use_id, tool_input } = Call.parse(given);
    const builtIn = BUILT_IN[tool_name];
    if (builtIn === undefined) return allowed();
    const input = builtIn.inputFor(tool_input);
    const began = Promise.withResolvers<null>();
    const work = Promise.withResolvers<string>();
    const named = parts.tools.find(({ name }) => name === builtIn.own);
    const tool = parts.announce({
      ...(named?.doing === undefined ? {} : { doing: named.doing }),
      repeat: named?.repeat ?? 'once',
      brings: named?.brings ?? 'outside',
      name: builtIn.own,
      description: '',
      input: z.unknown(),
      // Called once the host allows it and has noted it.
      run: () => {
        began.resolve(null);
        return work.promise;
      },
    });
    const call = { name: builtIn.own, input };
    const shown = parts.guardedTools.run(frame, call, () => tool.run(input, NOTHING));
    const refusal = await Promise.race([began.promise, shown.then(() => null, reasonOf)]);
    if (refusal !== null) return refused(refusal);
    // Its end is waited for after the call; a turn that is over waits for none.
    shown.catch(() => {});
    runs.set(tool_use_id, { builtIn, ended: work.resolve, failed: work.reject, shown });
    return allowed(isGuarded(frame, builtIn.own) ? withExitCode(tool_name, tool_input) : undefined);
  }

  async function after(given: unknown): Promise<HookOutput> {
    const { tool_use_id, tool_response } = Call.parse(given);
    const run = taken(tool_use_id);
    if (run === undefined) return {};
    const text = run.builtIn.textOf(tool_response);
    run.ended(text);
    const shown = await run.shown.catch(reasonOf);
    if (shown === text) return {};
    const updatedToolOutput = run.builtIn.withText(tool_response, shown);
    return { hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput } };
  }

  async function afterFailure(given: unknown): Promise<HookOutput> {
    const { tool_use_id, error } = Call.parse(given);
    const run = taken(tool_use_id);
    run?.failed(new Error(error));
    await run?.shown.catch(() => {});
    return {};
  }

  function taken(id: string): Run | undefined {
    const run = runs.get(id);
    runs.delete(id);
    return run;
  }

  return {
    before: (given) => before(given).catch((error: unknown) => refused(reasonOf(error))),
    after,
    afterFailure,
    end() {
      for (const { failed } of runs.values()) failed(new Error('The turn is over.'));
      runs.clear();
    },
  };
}

function isGuarded({ guarded = [] }: TurnFrame, name: string): boolean {
  return guarded === 'all' || guarded.includes(name);
}

/**
 * Returns a command that says its exit code and succeeds, as the agent's own shell does: guards can rewrite
 * the result of a tool, but not that of one that fails.
 */
function withExitCode(name: string, input: unknown): unknown {
  const given = Command.safeParse(input).data;
  if (name !== 'Bash' || given === undefined) return undefined;
  return { ...given, command: `(\n${given.command}\n)\necho "[exit code $?]"` };
}

function allowed(updatedInput?: unknown): HookOutput {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'allow',
      ...(updatedInput === undefined ? {} : { updatedInput }),
    },
  };
}

function refused(permissionDecisionReason: string): HookOutput {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason,
    },
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function unavailable(): Promise<never> {
  throw new Error('A tool of the SDK has nothing of the turn.');
}

/** The tools of the SDK work with nothing of ours. */
const NOTHING: ToolContext = {
  signal: new AbortController().signal,
  groupFolder: '/workspace/group',
  factsOf: () => ({}),
  callHost: unavailable,
  runLoop: unavailable,
  ask: unavailable,
};
