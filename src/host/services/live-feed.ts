import type { Store, Turn } from '../../store/store.ts';
import type { ClawProgress } from '../contracts/claw.ts';
import type { LiveEvent, LiveTurn, Watch } from '../contracts/live-event.ts';
import type { ClockPort, LogPort, StorePort } from '../contracts/ports.ts';
import { titleOf } from '../inbound-path/command-title.ts';
import type { LiveAnswers } from '../outbound/live/live-answers.ts';
import type { TurnEnd } from '../turns/turn-result.ts';

/** The host's side of what services watch. Reporting costs almost nothing while nobody watches. */
export interface LiveFeed {
  readonly watch: Watch;
  tell(event: LiveEvent): void;
  /** Something was said in a chat, or a question there is another; tells of questions that are new. */
  chatChanged(jid: string): void;
  /** A turn runs; the returned function tells that this process does not work on it any more. */
  began(turn: Turn): () => void;
  ended(turn: Turn, result: TurnEnd): void;
  /** The change of the code that a command's turn makes goes on. */
  progressed(turn: Turn, progress: ClawProgress): void;
  /** Returns the same answers, which are told here as well. */
  over(live: LiveAnswers): LiveAnswers;
}

type Running = { readonly turn: LiveTurn; text: string; readonly progress: ClawProgress[] };

/** More of an answer is not kept for those who begin to watch in the middle of it. */
const MAX_TEXT = 200_000;
/** Nor more of what a proof ran, without what that printed. */
const MAX_PROGRESS = 500;

/** Opens the feed. */
export function openLiveFeed(options: StorePort & ClockPort & LogPort): LiveFeed {
  const { store, now, log } = options;
  const listeners = new Set<(event: LiveEvent) => void>();
  const running = new Map<string, Running>();
  const questions = new Map<string, ReadonlySet<string>>();

  function tell(event: LiveEvent): void {
    for (const listener of [...listeners]) {
      try {
        listener(event);
      } catch (error) {
        // It goes first: the log is watched, too.
        listeners.delete(listener);
        log.error('a service broke on what it watches', { error: String(error) });
      }
    }
  }

  function chatChanged(jid: string): void {
    if (listeners.size === 0) return;
    tell({ kind: 'chat', jid });
    const before = questions.get(jid);
    const open = openIn(store, jid);
    if (open.size === 0) questions.delete(jid);
    else questions.set(jid, open);
    for (const question of open) {
      if (before?.has(question) !== true) tell({ kind: 'asked', jid, question });
    }
  }

  function end(turn: Turn, state: string, error: string | null): void {
    if (!running.delete(turn.id)) return;
    tell({ kind: 'ended', turn: turn.id, jid: turn.jid, state, error });
    chatChanged(turn.jid);
  }

  return {
    watch(onEvent) {
      for (const { turn, text, progress } of running.values()) {
        const about = { turn: turn.turn, jid: turn.jid };
        onEvent({ kind: 'began', ...turn });
        if (text !== '') onEvent({ kind: 'delta', ...about, text });
        for (const one of progress) onEvent({ kind: 'progress', ...about, progress: one });
      }
      listeners.add(onEvent);
      return () => void listeners.delete(onEvent);
    },
    tell,
    chatChanged,
    began(turn) {
      const live = {
        turn: turn.id,
        jid: turn.jid,
        folder: store.groups.byJid(turn.jid)?.folder ?? null,
        work: turn.kind,
        title: turn.kind === 'command' ? titleOf(turn.payload) : null,
        answersTo: store.turns.asked(turn.id),
        startedAt: now(),
      };
      running.set(turn.id, { turn: live, text: '', progress: [] });
      tell({ kind: 'began', ...live });
      return () => end(turn, 'given-back', null);
    },
    ended(turn, result) {
      if (result.kind === 'ended') end(turn, result.state, result.error);
      else end(turn, result.kind, null);
    },
    progressed({ id, jid }, progress) {
      const kept = running.get(id)?.progress;
      if (kept !== undefined && kept.length < MAX_PROGRESS && progress.kind !== 'output') {
        kept.push(progress);
      }
      tell({ kind: 'progress', turn: id, jid, progress });
    },
    over: (live) => ({
      ...live,
      open(turn) {
        const answer = live.open(turn);
        const about = { turn: turn.id, jid: turn.jid };
        return {
          ...answer,
          addText(delta) {
            answer.addText(delta);
            const work = running.get(turn.id);
            if (work !== undefined && work.text.length < MAX_TEXT) work.text += delta;
            tell({ kind: 'delta', ...about, text: delta });
          },
          begin(line) {
            const end = answer.begin(line);
            tell({ kind: 'step', ...about, line, isOver: false });
            return () => {
              end();
              tell({ kind: 'step', ...about, line, isOver: true });
            };
          },
        };
      },
    }),
  };
}

function openIn(store: Store, jid: string): ReadonlySet<string> {
  return new Set(store.asks.inChat(jid).map(({ id }) => id));
}
