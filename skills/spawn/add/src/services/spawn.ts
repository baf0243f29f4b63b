import { z } from 'zod';
import { type Delivery, defineService, type EndedTurn } from '../host/contracts/service.ts';
import type { ServiceCaller } from '../host/contracts/service-call.ts';
import { SpawnEnvironment } from '../lib/spawn/settings.ts';
import { openSpawnBook, SPAWNS, type Spawn, type SpawnState } from './spawn/book.ts';
import { findProfile, systemOf } from './spawn/system.ts';
import { headOf, listOf, oneOf, rawReport, reportPrompt } from './spawn/texts.ts';

const SpawnRequest = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('start'),
    task: z.string(),
    profile: z.string().nullable(),
    waits: z.boolean(),
  }),
  z.object({ kind: z.literal('list') }),
  z.object({ kind: z.literal('show'), number: z.int() }),
  z.object({ kind: z.literal('stop'), number: z.int() }),
]);
/**
 * Those that a turn of this process waits for, by the sub-agent's turn. They outlive a run of the service: one that
 * is started again still answers. When the assistant ends, nobody is answered, and the turn begins again.
 */
const waiting = new Map<string, PromiseWithResolvers<string>>();

const MOST_GENERATIONS = 4;

type Start = Extract<z.output<typeof SpawnRequest>, { kind: 'start' }>;

/** Runs sub-agents beside the chats: each is a turn of its own, with its own container and conversation. */
export const service = defineService({
  name: 'spawn',
  settings: SpawnEnvironment,
  needs: ['SPAWN'],
  start(context) {
    const { settings, now, timeZone, setTimer, queueTurn, readGroupFile, assistantName } = context;
    const { SPAWN_AT_ONCE: most, SPAWN_MINUTES: minutes } = settings;
    const book = openSpawnBook(context.openDatabase(SPAWNS));
    const timers = new Map<number, () => void>();
    let starting = 0;
    /** One that is being stopped takes no place. */
    const atWork = () => book.open().filter(({ state }) => state === 'at work').length;

    async function begin(request: Start, caller: ServiceCaller): Promise<Spawn> {
      if (caller.turn !== null && book.byTurn(caller.turn) !== null) {
        throw new Error('A sub-agent cannot start another one.');
      }
      if (generationOf(caller) > MOST_GENERATIONS) {
        throw new Error(
          `Each was started at the result of another, ${MOST_GENERATIONS} times now. Tell what there is: a person has to say that it goes on.`,
        );
      }
      if (atWork() + starting >= most) {
        throw new Error(
          `As many sub-agents are at work as may be (${most}). Try again later, or do it yourself.`,
        );
      }
      starting += 1;
      try {
        return await queue(request, caller);
      } finally {
        starting -= 1;
      }
    }

    /** A chat that starts one at each result would go on for ever, with no person there. */
    function generationOf({ turn }: ServiceCaller): number {
      return 1 + ((turn === null ? null : book.byReport(turn))?.generation ?? 0);
    }

    async function queue(
      { task, profile: name, waits }: Start,
      caller: ServiceCaller,
    ): Promise<Spawn> {
      const { folder, jid, signal } = caller;
      const profile = await findProfile(readGroupFile, name);
      const head = headOf(assistantName, now(), timeZone);
      const system = await systemOf(readGroupFile, { folder, profile, head });
      context.signal.throwIfAborted();
      if (waits) signal.throwIfAborted();
      const turn = queueTurn({
        folder,
        jid,
        prompt: task,
        taskType: 'subagent',
        ...(profile.pool === undefined ? {} : { pool: profile.pool }),
        system,
        tools: {
          ...(profile.tools === undefined ? {} : { only: profile.tools }),
          without: ['spawn', 'spawn_await', 'stay_silent'],
        },
        isBeside: true,
      });
      const spawn = book.add({
        turn,
        folder,
        jid,
        waits,
        profile: name,
        task,
        generation: generationOf(caller),
        startedAt: now(),
      });
      limit(spawn);
      return spawn;
    }

    /** Its turn may be gone with its chat: nothing but this clock ends it then. */
    function limit(spawn: Spawn): void {
      const limitMs = minutes * 60_000;
      // After the clock was set back it began in the future: it has no more than its whole time.
      const leftMs = Math.min(limitMs, Math.max(0, spawn.startedAt + limitMs - now()));
      timers.set(
        spawn.number,
        setTimer(leftMs, () => stop(spawn, 'too long')),
      );
    }

    function stop(spawn: Spawn, why: SpawnState): boolean {
      book.mark(spawn.number, why);
      if (context.stopTurn(spawn.turn)) return true;
      ended(spawn, why, 'It was not at work any more.');
      return false;
    }

    async function startAndWait(request: Start, caller: ServiceCaller): Promise<string> {
      const spawn = await begin(request, caller);
      const result = Promise.withResolvers<string>();
      waiting.set(spawn.turn, result);
      const abandon = () => void stop(spawn, 'stopped');
      if (caller.signal.aborted) abandon();
      caller.signal.addEventListener('abort', abandon, { once: true });
      return await result.promise.finally(() => {
        waiting.delete(spawn.turn);
        caller.signal.removeEventListener('abort', abandon);
      });
    }

    async function start(request: Start, caller: ServiceCaller): Promise<string> {
      if (request.waits) return await startAndWait(request, caller);
      const { number } = await begin(request, caller);
      return `Sub-agent ${number} is at work. Its result comes later, in a turn of its own: do not wait for it.`;
    }

    function ended(spawn: Spawn, state: SpawnState, result: string): Spawn {
      timers.get(spawn.number)?.();
      timers.delete(spawn.number);
      book.end(spawn.number, { state, result }, now());
      const waiter = waiting.get(spawn.turn);
      if (state === 'done') waiter?.resolve(result);
      else waiter?.reject(new Error(`The sub-agent gave no result (${state}): ${result}`));
      return book.byNumber(spawn.number) ?? spawn;
    }

    /** A sub-agent says nothing in the chat itself: whoever started it does. */
    function onTurnEnd(turn: EndedTurn): Delivery {
      const reported = book.byReport(turn.id);
      if (reported !== null) {
        const isTold = turn.outcome === 'answered' || turn.outcome === 'silent';
        return isTold ? { kind: 'send' } : { kind: 'send', text: rawReport(reported) };
      }
      const spawn = book.byTurn(turn.id);
      if (spawn === null) return { kind: 'send' };
      const done = ended(spawn, ...endOf(spawn, turn, minutes));
      if (!done.waits && done.state !== 'stopped' && done.report === null) report(done);
      return { kind: 'silent' };
    }

    function report(spawn: Spawn): void {
      const { folder, jid, number } = spawn;
      const prompt = reportPrompt(spawn);
      book.setReport(
        number,
        queueTurn({ folder, jid, prompt, context: 'group', taskType: 'task' }),
      );
    }

    function stopByOwner(number: number): string {
      const spawn = book.byNumber(number);
      if (spawn === null) return `There is no sub-agent ${number}.`;
      if (spawn.endedAt !== null) return `Sub-agent ${number} is not at work any more.`;
      return stop(spawn, 'stopped')
        ? `Stopping sub-agent ${number}.`
        : `Sub-agent ${number} has ended.`;
    }

    for (const spawn of book.open()) {
      // The turn that waited for it was in the process that ended; it begins again, and asks again.
      if (spawn.waits) stop(spawn, 'stopped');
      else limit(spawn);
    }
    return {
      stop() {},
      status: () => `${atWork()} of ${most} at work`,
      onTurnEnd,
      onCall(given, caller) {
        const request = SpawnRequest.parse(given);
        if (request.kind === 'start') return start(request, caller);
        if (request.kind === 'list') return listOf(book.last(20), now(), timeZone);
        if (request.kind === 'stop') return stopByOwner(request.number);
        const spawn = book.byNumber(request.number);
        return spawn === null
          ? `There is no sub-agent ${request.number}.`
          : oneOf(spawn, now(), timeZone);
      },
    };
  },
});

/** Returns the end of a sub-agent's turn: the state and its words. */
function endOf(spawn: Spawn, turn: EndedTurn, minutes: number): [SpawnState, string] {
  const { outcome, error, text } = turn;
  if (outcome === 'answered') return ['done', text];
  if (outcome === 'silent') return ['done', '(It ended without a word.)'];
  if (spawn.state === 'too long') return ['too long', `It took longer than ${minutes} minutes.`];
  if (spawn.state === 'stopped' || error === 'CANCELLED') return ['stopped', 'It was stopped.'];
  return ['failed', text === '' ? 'It did not begin: the budget of the day is used up.' : text];
}
