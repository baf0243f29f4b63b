import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openContributions } from '../lib/contribution.ts';
import type { KnownMachines, MachineLook, Places } from '../lib/machines.ts';
import { type Engine, MachineLost, type Mount } from './engines/engine.ts';
import type { AgreedFiles } from './far/chat-files.ts';
import { type FarEngineParts, type FileNews, farEngine } from './far/far-engine.ts';
import { type Tree, TreeList } from './far/file-tree.ts';
import {
  type Machine,
  type MachineSource,
  type MachinesContribution,
  placeChat,
} from './machines/machines.ts';
import type { AgentUser } from './mounts/ownership.ts';
import type { SandboxOptions } from './sandbox.ts';

export type OtherMachinesParts = Pick<
  SandboxOptions,
  | 'projectDir'
  | 'environment'
  | 'elapsed'
  | 'now'
  | 'onProgress'
  | 'onFileConflict'
  | 'onMachineTrouble'
> & {
  readonly dataDir: string;
  readonly sources: readonly MachinesContribution[];
  readonly places: Places;
  readonly user: AgentUser;
  /** The engine of this machine. */
  readonly home: Engine;
  /** The folders of a chat that its agent writes to. */
  readonly writableMounts: (folder: string) => readonly Mount[];
  /** Whether a container of this folder runs on that machine, or is being started. */
  readonly isAtWork: (folder: string, machine: string) => boolean;
};

/** The other machines of this installation, and which chats run there. */
export class OtherMachines implements KnownMachines {
  readonly #parts: OtherMachinesParts;
  readonly #sources: readonly MachineSource[];
  /** By folder, why it runs at home although the owner wants it elsewhere: said once. */
  readonly #told = new Map<string, string>();
  /** Chats whose files are being fetched, by machine and folder. */
  readonly #collecting = new Set<string>();
  /** When they were fetched last, whatever came of it. */
  readonly #collectedAt = new Map<string, number>();
  /** By folder, the machines that lost its container lately or could not start it. */
  readonly #losses = new Map<string, readonly Loss[]>();

  constructor(parts: OtherMachinesParts) {
    this.#parts = parts;
    const { projectDir, dataDir, environment = {}, elapsed, now, onProgress, places } = parts;
    const { made, silent } = openContributions(parts.sources, environment, () => ({
      projectDir,
      dataDir,
      openEngine: (own) =>
        farEngine({
          ...own,
          nextFence: places.nextFence,
          elapsed,
          now,
          agreedFiles: (folder) => agreedFiles(dataDir, own.machine, folder),
          // Only root gives files to another user.
          user: process.getuid?.() === 0 ? parts.user : null,
          onFileNews: (folder, news) => this.#tellNews(own, folder, news),
          onLeft: (folder, paths, place) => this.#tellLeft(own.machine, folder, paths, place),
          onProgress,
        }),
      onFilesLeft: (machine, folders) => void this.#collect(machine, folders),
      onTrouble: (text) => parts.onMachineTrouble?.(text),
      onProgress,
    }));
    this.#sources = made.map(({ value }) => value);
    for (const { name, wrong, unusable } of silent) {
      const why = unusable ?? wrong.map((one) => `${one.name} ${one.problem}`).join('; ');
      if (why !== '') onProgress(`machines of ${name} cannot be used: ${why}`);
    }
  }

  list(): readonly MachineLook[] {
    return this.#machines().map(({ engine: _, ...look }) => look);
  }

  drain(name: string, isDraining: boolean): boolean {
    return this.#sources.some((source) => source.drain(name, isDraining));
  }

  problems(): readonly string[] {
    return this.#sources.flatMap((source) => source.problem?.() ?? []);
  }

  /** Returns the engine for a chat's next container. @param present the machine where it has one now */
  engineFor(folder: string, present: string | null): Engine {
    const losses = this.#lossesOf(folder);
    const isLeftAlone = ({ name }: Machine) =>
      name !== present &&
      (losses.length >= LOSSES_UNTIL_HOME ||
        losses.some(({ machine, hasStarted }) => machine === name && !hasStarted));
    const machines = this.#machines().map((machine) =>
      isLeftAlone(machine) ? { ...machine, state: 'away' as const } : machine,
    );
    const placing = placeChat(this.#parts.places.of(folder), machines, present);
    if (placing.kind === 'machine') {
      this.#told.delete(folder);
      return this.#watched(folder, placing.machine);
    }
    if (placing.reason !== null && this.#told.get(folder) !== placing.reason) {
      this.#told.set(folder, placing.reason);
      this.#parts.onProgress(`the chat ${folder} runs at home: ${placing.reason}`);
    }
    return this.#parts.home;
  }

  /**
   * Notes what a machine loses of a chat. One that could not start its container is left alone for a while, or a turn would
   * use up its attempts there. One that lost it may be back, with its files.
   */
  #watched(folder: string, { name, engine }: Machine): Engine {
    const note = (hasStarted: boolean): void => {
      const loss = { machine: name, at: this.#parts.elapsed(), hasStarted };
      this.#losses.set(folder, [...this.#lossesOf(folder), loss]);
    };
    return {
      ...engine,
      async startContainer(spec) {
        try {
          const container = await engine.startContainer(spec);
          void container.ended.then(() => {
            if (container.isMachineLost) note(true);
          });
          return container;
        } catch (error) {
          if (error instanceof MachineLost) note(false);
          throw error;
        }
      },
    };
  }

  #lossesOf(folder: string): readonly Loss[] {
    const losses = this.#losses.get(folder) ?? [];
    return losses.filter(({ at }) => this.#parts.elapsed() - at < LOSS_PAUSE_MS);
  }

  async close(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.close()));
  }

  #machines(): readonly Machine[] {
    return this.#sources.flatMap((source) => source.list());
  }

  /** Only chats that ran on that machine: another chat's files are not its to give. */
  async #collect(machine: Machine, folders: readonly string[]): Promise<void> {
    const { dataDir, isAtWork, writableMounts, onProgress } = this.#parts;
    for (const folder of folders) {
      const what = `${machine.name}/${folder}`;
      if (isAtWork(folder, machine.name) || this.#collecting.has(what)) continue;
      const since =
        this.#parts.elapsed() - (this.#collectedAt.get(what) ?? Number.NEGATIVE_INFINITY);
      if (since < COLLECT_PAUSE_MS) continue;
      if (!agreedFiles(dataDir, machine.name, folder).isKnown()) continue;
      this.#collecting.add(what);
      this.#collectedAt.set(what, this.#parts.elapsed());
      try {
        await machine.engine.collect(folder, writableMounts(folder));
        onProgress(`files of the chat ${folder} came home from ${machine.name}`);
      } catch (error) {
        onProgress(`files of ${folder} are still on ${machine.name}: ${String(error)}`);
      } finally {
        this.#collecting.delete(what);
      }
    }
  }

  #tellNews(
    { machine, filesLimit }: Pick<FarEngineParts, 'machine' | 'filesLimit'>,
    folder: string,
    { conflicts, refused, place }: FileNews,
  ): void {
    const [one] = conflicts.first;
    if (conflicts.count === 1 && one !== undefined) {
      const text =
        `\`${one.path}\` was changed here and on ${machine}, in ways that do not go together. ` +
        `Yours is in place; the other one is \`${one.beside}\`.`;
      this.#parts.onFileConflict?.(
        folder,
        one.shown === null ? text : `${text}\n\n\`\`\`\n${one.shown.slice(0, 2_000)}\n\`\`\``,
      );
    } else if (conflicts.count > 1) {
      const names = named(
        conflicts.first.map(({ beside }) => beside),
        conflicts.count,
      );
      this.#parts.onFileConflict?.(
        folder,
        `${conflicts.count} files were changed here and on ${machine}, in ways that do not go together. ` +
          `Yours are in place; the others are beside them: ${names}.`,
      );
    }
    if (refused.count === 0) return;
    const { bytes, files, settings } = filesLimit;
    const what = refused.count === 1 ? 'A file was' : `${refused.count} files were`;
    const where = place === null ? machine : `${machine}, in \`${place}\``;
    const text =
      `${what} not taken from ${machine}: ${named(refused.first, refused.count)}. With it this chat would hold more than ` +
      `${Math.round(bytes / 1024 ** 2)} MB or ${files} files here (${settings}). It stays on ${where}.`;
    this.#parts.onProgress(text);
    this.#parts.onFileConflict?.(folder, text);
  }

  #tellLeft(machine: string, folder: string, paths: readonly string[], place: string): void {
    const text =
      `${named(paths.slice(0, MAX_NAMED), paths.length)} cannot be sent from ${machine}: larger than 64 MB, unreadable, or no plain ` +
      `file. They stay there, in \`${place}\`.`;
    this.#parts.onProgress(text);
    this.#parts.onFileConflict?.(folder, text);
  }
}

type Loss = { readonly machine: string; readonly at: number; readonly hasStarted: boolean };

/** As long as a machine that has just gone away may still count as here, and some more. */
const LOSS_PAUSE_MS = 30_000;
/** After so many, others may be next, as in an upgrade of all machines; a turn has three attempts. */
const LOSSES_UNTIL_HOME = 2;
/** A machine that has files again and again is asked for them so often: each time the owner may be told something. */
const COLLECT_PAUSE_MS = 60_000;
/** Files that one message names. */
const MAX_NAMED = 5;

/** The first names of so many. */
function named(first: readonly string[], count: number): string {
  const names = first.map((path) => `\`${path}\``).join(', ');
  return count > first.length ? `${names} and ${count - first.length} more` : names;
}

const Stored = z.record(z.string(), TreeList);

/** Keeps what both sides last agreed on, in a file of its own for each machine and chat. */
function agreedFiles(
  dataDir: string,
  machine: string,
  folder: string,
): AgreedFiles & { forget(): void; isKnown(): boolean } {
  const dir = join(dataDir, 'far/agreed', machine);
  const path = join(dir, `${folder}.json`);
  return {
    load() {
      try {
        const trees = Stored.parse(JSON.parse(readFileSync(path, 'utf8')));
        return new Map(
          Object.entries(trees).map(([target, list]): [string, Tree] => [target, new Map(list)]),
        );
      } catch {
        // Nothing of this chat is on that machine, or nobody knows what: then no version is taken for the older one.
        return new Map();
      }
    },
    save(trees) {
      mkdirSync(dir, { recursive: true });
      const lists = [...trees].map(([target, tree]) => [target, [...tree]]);
      writeFileSync(`${path}.new`, JSON.stringify(Object.fromEntries(lists)));
      renameSync(`${path}.new`, path);
    },
    forget: () => rmSync(path, { force: true }),
    isKnown: () => existsSync(path),
  };
}
