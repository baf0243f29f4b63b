import { z } from 'zod';
import { defineGuard, type GuardedCall, type Verdict } from '../host/contracts/guard.ts';
import { NameList } from '../lib/setting-values.ts';
import { addEntry } from './guard/audit-log.ts';
import { filesOfChat } from './guard/chat-files.ts';
import { maskData, maskText } from './guard/mask.ts';
import { concerns, ToolRules } from './guard/permissions.ts';
import { cleanResult } from './guard/results.ts';
import { type Review, reviewCode, reviewShell } from './guard/review.ts';
import type { LookAt } from './guard/shell/losses.ts';

const RUNS: Review = { kind: 'run', confidence: null, reason: '' };

/** Tools that run what they are given: the agent's shell, and those of other skills that are called like it. */
const RUNNER =
  /(?:^|_)(?:shell|bash|sh|exec|execute|run|terminal|cmd|command|code|python|eval)(?:_|$)/i;

const Runnable = z.object({
  command: z.string().optional(),
  cmd: z.string().optional(),
  script: z.string().optional(),
  code: z.string().optional(),
  language: z.string().optional(),
});

/**
 * Looks at every call of a tool, the agent's own included: at what a command would do, at what the owner allows a
 * chat, and at what comes back. It notes each call in the audit log.
 */
export const guard = defineGuard({
  name: 'guard',
  // After long results are cut, and after what others refuse.
  order: 950,
  ownTools: 'all',
  settings: z.object({
    GUARD_DENY: ToolRules,
    GUARD_ASK: ToolRules,
    GUARD_PROGRAMS: NameList,
  }),
  create({
    settings: { GUARD_DENY: deny, GUARD_ASK: ask, GUARD_PROGRAMS },
    dataDir,
    groupsDir,
    now,
  }) {
    const programs = new Set(GUARD_PROGRAMS);
    /** The review of each call, until it is decided. */
    const reviews = new WeakMap<
      GuardedCall,
      { readonly review: Review; readonly asked: boolean }
    >();

    return {
      before(call): Verdict {
        const { tool, group } = call;
        const place = { folder: group.folder, tool: tool.name };
        if (concerns(deny, place)) {
          return { kind: 'deny', reason: `The owner does not let this chat use ${tool.name}.` };
        }
        const review = reviewOfCall(call, programs, filesOfChat(groupsDir, group.folder));
        const isAsked = review.kind === 'ask' || (review.kind === 'run' && concerns(ask, place));
        reviews.set(call, { review, asked: isAsked });
        if (review.kind === 'block') return { kind: 'deny', reason: review.reason };
        if (!isAsked) return { kind: 'allow' };
        return { kind: 'ask', reason: review.reason || 'You want to be asked about that.' };
      },
      decided(call, refusal) {
        const { review = RUNS, asked = false } = reviews.get(call) ?? {};
        addEntry(dataDir, {
          time: new Date(now()).toISOString(),
          chat: call.group.folder,
          tool: call.tool.name,
          runsIn: call.runsIn,
          isTask: call.isTask,
          decision: refusal === null ? 'run' : 'refused',
          asked,
          confidence: review.confidence,
          reason: refusal === null ? null : maskText(refusal),
          input: maskData(call.input),
        });
      },
      after: ({ tool, runsIn }, result) =>
        runsIn === 'container' && !RUNNER.test(tool.name) ? result : cleanResult(result, runsIn),
    };
  },
});

function reviewOfCall(
  { tool, input }: GuardedCall,
  programs: ReadonlySet<string>,
  lookAt: LookAt,
): Review {
  if (!RUNNER.test(tool.name) || tool.name === 'owner_command') return RUNS;
  const { data = {} } = Runnable.safeParse(input);
  const { code, language } = data;
  const text = data.command ?? data.cmd ?? data.script;
  if (text !== undefined) return reviewShell(text, programs, lookAt);
  if (code === undefined) return RUNS;
  const said = language ?? (/python/i.test(tool.name) ? 'python' : 'unknown');
  return reviewCode({ language: said, code }, programs, lookAt);
}
