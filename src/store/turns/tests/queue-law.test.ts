import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openStore, type Store } from '../../store.ts';

/** The owner has two chats, which are one group. */
const CHATS = [
  { jid: 'test:owner', folder: 'main' },
  { jid: 'test:phone', folder: 'main' },
  { jid: 'test:family', folder: 'family' },
  { jid: 'test:work', folder: 'work' },
  { jid: 'test:club', folder: 'club' },
] as const;
const LEASE = { owner: 'me', until: 0 };
const ENDS = ['answered', 'failed', 'given back'] as const;

const chat = fc.constantFrom(...CHATS);
const step = fc.oneof(
  fc.record({ kind: fc.constant('asks' as const), chat }),
  fc.record({ kind: fc.constant('task' as const), chat }),
  { arbitrary: fc.record({ kind: fc.constant('claim' as const) }), weight: 2 },
  fc.record({ kind: fc.constant('end' as const), how: fc.constantFrom(...ENDS) }),
);

test('each waiting group is passed over at most once, people and tasks alternate, and all are served', () => {
  const law = fc.property(fc.array(step, { minLength: 20, maxLength: 80 }), (steps) => {
    const folder = mkdtempSync(join(tmpdir(), 'claw-queue-'));
    const store = openStore({ path: join(folder, 'claw.db'), now: 1 });
    const queue = new Queue(store);
    try {
      for (const { kind, ...over } of steps) {
        if (kind === 'end') queue.end('how' in over ? over.how : 'answered');
        else if (kind === 'claim') queue.claim();
        else if ('chat' in over) queue.add(kind, over.chat.jid);
      }
      while (queue.claim() || queue.end('answered'));
      expect(queue.waiting).toEqual([]);
      expect(store.turns.counts()).toMatchObject({ queued: 0, running: 0 });
    } finally {
      store.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
  fc.assert(law, { numRuns: 25 });
});

type Waiting = { readonly jid: string; readonly kind: 'asks' | 'task'; readonly id: string };

/** A driver of the store's queue, which observes it from outside. */
class Queue {
  readonly #store: Store;
  readonly #running: { readonly id: string; readonly jid: string; readonly kind: string }[] = [];
  /** By group that waits: those who were served since it has been waiting. */
  readonly #servedBefore = new Map<string, Set<string>>();
  /** By group and kind that waits: how often the other kind was served since. */
  readonly #otherKind = new Map<string, number>();
  waiting: Waiting[] = [];
  #count = 0;

  constructor(store: Store) {
    this.#store = store;
    for (const { jid, folder } of CHATS) {
      store.chats.see({ jid, channel: 'test', name: jid, isDirect: true }, 1);
      const isMain = folder === 'main';
      const trigger = { needsTrigger: false, triggerWord: null };
      store.groups.register({ jid, folder, name: jid, ...trigger, isMain }, 1);
    }
  }

  add(kind: 'asks' | 'task', jid: string): void {
    this.#count += 1;
    const id = `turn-${this.#count}`;
    if (kind === 'task') {
      this.#store.turns.queueTask({ id, jid, taskId: this.#count, seesChat: true }, 1);
    } else {
      const said = { sender: 'ada', senderName: null, isOwner: true, text: 'x', sentAt: 0 };
      const seq = this.#store.messages.add({ jid, id, ...said }, 1) ?? 0;
      this.#store.turns.queueAgent({ id, jid, seq }, 1);
      // A question that arrives while another waits is asked together with it.
      if (this.waiting.some((turn) => turn.jid === jid && turn.kind === 'asks')) return;
    }
    this.waiting.push({ id, jid, kind });
  }

  claim(): boolean {
    const busy = new Set(this.#running.map(({ jid }) => folderOf(jid)));
    const ready = this.waiting.filter(({ jid }) => !busy.has(folderOf(jid)));
    const turn = this.#store.turns.claimNext('agent', LEASE);
    const found = ready.find(({ id }) => id === turn?.id);
    if (found === undefined) {
      expect({ turn, ready }).toEqual({ turn: null, ready: [] });
      return false;
    }
    this.waiting = this.waiting.filter(({ id }) => id !== found.id);
    this.#running.push(found);
    this.#checkGroups(found, ready);
    this.#checkKinds(found, ready);
    return true;
  }

  end(how: (typeof ENDS)[number]): boolean {
    const turn = this.#running.shift();
    if (turn === undefined) return false;
    const { id, jid } = turn;
    if (how === 'given back') {
      this.#store.turns.release(id, LEASE.owner);
      this.waiting.push({ id, jid, kind: turn.kind === 'task' ? 'task' : 'asks' });
    } else {
      const rest = { error: null, messages: [], session: null, question: null, run: null };
      this.#store.finishTurn({ id, jid, owner: LEASE.owner, state: how, ...rest }, 1);
    }
    return true;
  }

  #checkGroups(found: Waiting, ready: readonly Waiting[]): void {
    const folder = folderOf(found.jid);
    this.#servedBefore.delete(folder);
    for (const other of new Set(ready.map(({ jid }) => folderOf(jid)))) {
      if (other === folder) continue;
      const served = this.#servedBefore.get(other) ?? new Set();
      expect(served.has(folder), `${folder} was served twice while ${other} waited`).toBe(false);
      this.#servedBefore.set(other, served.add(folder));
    }
  }

  #checkKinds(found: Waiting, ready: readonly Waiting[]): void {
    const folder = folderOf(found.jid);
    this.#otherKind.delete(`${folder} ${found.kind}`);
    const other = found.kind === 'task' ? 'asks' : 'task';
    if (!ready.some(({ jid, kind }) => folderOf(jid) === folder && kind === other)) return;
    const key = `${folder} ${other}`;
    const times = (this.#otherKind.get(key) ?? 0) + 1;
    expect(times, `in ${folder}, ${other} waited for two of the other kind`).toBeLessThan(2);
    this.#otherKind.set(key, times);
  }
}

function folderOf(jid: string): string {
  return CHATS.find((known) => known.jid === jid)?.folder ?? jid;
}
