import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Tower } from '../far-chaos/raven-far-end.ts';

type Turn = {
  readonly name: string;
  readonly room: string;
  actions: number;
  answers: number;
};

/** The turns that were asked for, and what came of them. */
export class AskedTurns {
  readonly #tower: Tower;
  readonly #all = new Map<string, Turn & { readonly heard: (word: string) => void }>();

  constructor(tower: Tower, say: (line: string) => void) {
    this.#tower = tower;
    tower.onHeard = ({ room, text }) => {
      const [, word = '', name = ''] = /^(action|done) (t\d{5})/.exec(text) ?? [];
      const turn = this.#all.get(name);
      if (turn === undefined) return void (text.startsWith('… ') || say(`${room} says: ${text}`));
      if (word === 'action') turn.actions += 1;
      else turn.answers += 1;
      turn.heard(word);
    };
  }

  get count(): number {
    return this.#all.size;
  }

  /** Asks for one. `acted` resolves when it has sent its message, in the middle of it. */
  ask(room: string): { readonly acted: Promise<void>; readonly answered: Promise<void> } {
    const name = `t${String(this.#all.size + 1).padStart(5, '0')}`;
    const [acted, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const heard = (word: string): void => (word === 'action' ? acted : answered).resolve();
    this.#all.set(name, { name, room, actions: 0, answers: 0, heard });
    this.#tower.say(room, `please do ${name}`);
    return { acted: acted.promise, answered: inTime(name, answered.promise) };
  }

  /** What was lost, or happened twice. */
  wrong(folderOf: (room: string) => string): readonly string[] {
    return [...this.#all.values()].flatMap(({ name, room, actions, answers }) => {
      const file = join(folderOf(room), `files/${name}.txt`);
      const isFileThere = existsSync(file) && readFileSync(file, 'utf8') === `${name}\n`;
      return [
        ...(answers === 1 ? [] : [`${name} was answered ${answers} times`]),
        ...(actions === 1 ? [] : [`${name}: its action was done ${actions} times`]),
        ...(isFileThere ? [] : [`${name}: its file is lost`]),
      ];
    });
  }
}

function inTime(name: string, answered: Promise<void>): Promise<void> {
  const late = delay(300_000, null, { ref: false }).then(() => {
    throw new Error(`${name} was lost`);
  });
  return Promise.race([answered, late]);
}
