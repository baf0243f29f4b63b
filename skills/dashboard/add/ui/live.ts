import { session } from './page.ts';
import { signal } from './vendor.ts';

// What happens in the assistant now. One tab of a browser holds the stream and tells the others.

/** An event as the assistant sends it; `src/host/contracts/live-event.ts` has the whole list. */
export type LiveEvent =
  | { readonly kind: 'hello' | 'gone' | 'who' }
  | { readonly kind: 'chat'; readonly jid: string }
  | ({ readonly kind: 'began' } & Began)
  | {
      readonly kind: 'step';
      readonly turn: string;
      readonly line: string;
      readonly isOver: boolean;
    }
  | { readonly kind: 'delta'; readonly turn: string; readonly text: string }
  | {
      readonly kind: 'progress';
      readonly turn: string;
      readonly jid: string;
      readonly progress: Progress;
    }
  | {
      readonly kind: 'ended';
      readonly turn: string;
      readonly state: string;
      readonly error: string | null;
    }
  | { readonly kind: 'asked'; readonly jid: string; readonly question: string }
  | {
      readonly kind: 'status';
      readonly channel: string;
      readonly state: string;
      readonly detail: string | null;
    }
  | { readonly kind: 'log'; readonly line: string };

/** How a change of the code goes on: plain steps, and checks and tests that are known by their text. */
export type Progress = {
  readonly kind: 'step' | 'done' | 'note' | 'started' | 'ended' | 'output';
  readonly text: string;
  readonly outcome?: 'passed' | 'failed' | 'stopped';
  readonly output?: string;
};

type Began = {
  readonly turn: string;
  readonly jid: string;
  readonly folder: string | null;
  readonly work: 'agent' | 'command';
  readonly title: string | null;
  readonly answersTo: readonly string[];
  readonly startedAt: number;
};

/** A turn that runs now. */
export type LiveTurn = Began & {
  readonly text: string;
  readonly lines: readonly string[];
  readonly progress: readonly Progress[];
};

export const turns = signal<readonly LiveTurn[]>([]);
/** False while the assistant cannot be reached. */
export const isOnline = signal(true);
/** Grows when the connection is new: what was read before may be old. */
export const epoch = signal(0);

let wasGone = false;

const listeners = new Set<(event: LiveEvent) => void>();

/** Calls back for each event, until the returned function is called. */
export function onLive(listener: (event: LiveEvent) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** So long a reading rests before the next one. */
const REST_MS = 100;

/**
 * Reads now, and again after each event that is meant, until the returned function is called: one reading at a time, some
 * a second, and none while nobody sees the tab. What goes on in the assistant then costs it the same, however much it is.
 *
 * @param isStale whether there is something to read now; false where it was read ahead
 */
export function keepFresh(
  isMeant: (event: LiveEvent) => boolean,
  read: () => Promise<unknown>,
  isStale = true,
): () => void {
  let [isReading, isEnded] = [false, false];
  const again = (): void => {
    if (isEnded || isReading || !isStale || document.hidden) return;
    isStale = false;
    isReading = true;
    // What was not read is read after the next event, at the latest when the connection is back.
    const done = read().catch(() => {});
    void done.then(() => setTimeout(rested, REST_MS));
  };
  const rested = (): void => {
    isReading = false;
    again();
  };
  const end = onLive((event) => {
    if (!isMeant(event)) return;
    isStale = true;
    again();
  });
  document.addEventListener('visibilitychange', again);
  again();
  return () => {
    isEnded = true;
    end();
    document.removeEventListener('visibilitychange', again);
  };
}

function take(event: LiveEvent): void {
  if (event.kind === 'hello') {
    turns.value = [];
    isOnline.value = true;
    // What the page has just read for the first time is not old.
    if (wasGone) epoch.value += 1;
    wasGone = false;
  } else if (event.kind === 'gone') {
    isOnline.value = false;
    wasGone = true;
  } else if (event.kind === 'began') {
    const { kind: _, ...began } = event;
    turns.value = [...others(began.turn), { ...began, text: '', lines: [], progress: [] }];
  } else if (event.kind === 'ended') turns.value = others(event.turn);
  else if (event.kind === 'delta') {
    change(event.turn, (turn) => ({ ...turn, text: turn.text + event.text }));
  } else if (event.kind === 'progress' && event.progress.kind !== 'output') {
    change(event.turn, ({ progress, ...turn }) => ({
      ...turn,
      progress: [...progress, event.progress],
    }));
  } else if (event.kind === 'step') {
    change(event.turn, ({ lines, ...turn }) => ({
      ...turn,
      lines: event.isOver ? lines.filter((line) => line !== event.line) : [...lines, event.line],
    }));
  }
  for (const listener of listeners) listener(event);
}

function others(id: string): readonly LiveTurn[] {
  return turns.value.filter(({ turn }) => turn !== id);
}

function change(id: string, by: (turn: LiveTurn) => LiveTurn): void {
  turns.value = turns.value.map((one) => (one.turn === id ? by(one) : one));
}

/** Begins to follow the assistant. */
export function followAssistant(): void {
  const channel = new BroadcastChannel('claw-dashboard');
  let isLeader = false;
  channel.onmessage = ({ data }) => {
    if (data.kind !== 'who') return void (isLeader || take(data));
    // A tab that is new wants to know what runs already.
    if (!isLeader) return;
    for (const { text, lines, progress, ...turn } of turns.value) {
      const { turn: id, jid } = turn;
      channel.postMessage({ kind: 'began', ...turn });
      if (text !== '') channel.postMessage({ kind: 'delta', turn: id, text });
      for (const line of lines) {
        channel.postMessage({ kind: 'step', turn: id, line, isOver: false });
      }
      for (const one of progress) {
        channel.postMessage({ kind: 'progress', turn: id, jid, progress: one });
      }
    }
  };
  channel.postMessage({ kind: 'who' });
  const tell = (event: LiveEvent): void => {
    take(event);
    channel.postMessage(event);
  };
  void navigator.locks.request('claw-dashboard-stream', async () => {
    isLeader = true;
    await listen(tell);
  });
}

/** Holds the stream for as long as this tab is open. */
function listen(tell: (event: LiveEvent) => void): Promise<never> {
  const connect = (): void => {
    const source = new EventSource('/dashboard/stream');
    source.onmessage = ({ data }) => tell(JSON.parse(data));
    source.onerror = () => {
      tell({ kind: 'gone' });
      // The browser gives up after an answer such as 401 or 503.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => void again(), 3_000);
    };
  };
  const again = async (): Promise<void> => {
    const answer = await fetch('/dashboard/api/settings/me').catch(() => null);
    if (answer?.status === 401) session.value = 'out';
    else connect();
  };
  connect();
  return new Promise(() => {});
}
