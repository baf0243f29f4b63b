import { lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { AT_HOME, type KnownMachines, type Places } from '../lib/machines.ts';
import type { Program, ProgramSpec } from '../lib/program.ts';
import { numberOf } from '../lib/setting-values.ts';
import { type ProtocolRun, runsOf } from '../model/candidates.ts';
import { unaskable } from '../model/failure.ts';
import { WarmAgent } from './agent-link/warm-agent.ts';
import { DEFAULT_LIMITS, type Engine, type Mount } from './engines/engine.ts';
import { GroupContainer, type GroupTurn, SHUTTING_DOWN } from './group.ts';
import { extraMounts } from './mounts/extra-mounts.ts';
import {
  type GroupPlaces,
  groupMounts,
  sharedMounts,
  writableFolders,
  writableMounts,
} from './mounts/mounts.ts';
import { type AgentUser, giveFolder } from './mounts/ownership.ts';
import { OtherMachines } from './other-machines.ts';
import type { TurnFrame } from './protocol/frames.ts';
import { makeSocketFolder, removePrivateFolder } from './protocol/socket-folder.ts';
import {
  mediaFolder,
  type Sandbox,
  type SandboxOptions,
  type TurnEvents,
  type TurnOutcome,
  type TurnRequest,
} from './sandbox.ts';

const DEFAULT_MODEL_TIMEOUT_MS = 60_000;

/** Plain names only: a folder's name becomes part of paths, labels and container names. */
const FOLDER_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

const ALL_AT_HOME: Places = { of: () => AT_HOME, set: () => {}, nextFence: () => 0 };

export type GroupSandboxParts = {
  readonly engine: Engine;
  readonly options: SandboxOptions;
  readonly user: AgentUser;
  /** The folder of the agent's bundle. */
  readonly bundle: string;
};

/** The sandbox over one engine: a warm agent per group folder. */
export class GroupSandbox implements Sandbox {
  readonly engine: Engine['name'];
  readonly description: string;
  readonly machines: KnownMachines;
  readonly #parts: GroupSandboxParts;
  readonly #groups = new Map<string, GroupContainer>();
  /** The containers of turns that run beside others, by folder and turn. */
  readonly #beside = new Map<string, Map<string, GroupContainer>>();
  readonly #programs = new Set<Program>();
  readonly #others: OtherMachines;
  #isClosed = false;

  constructor(parts: GroupSandboxParts) {
    this.engine = parts.engine.name;
    this.description = parts.engine.description;
    this.#parts = parts;
    const { options, engine, user } = parts;
    const groups = this.#groups;
    this.#others = new OtherMachines({
      ...options,
      dataDir: options.settings.dataDir,
      sources: options.machines ?? [],
      places: options.places ?? ALL_AT_HOME,
      user,
      home: engine,
      writableMounts: (folder) => writableMounts(this.#places(folder)),
      isAtWork(folder, machine) {
        const group = groups.get(folder);
        return group !== undefined && (group.isStarting || group.machine === machine);
      },
    });
    this.machines = this.#others;
  }

  async runTurn(request: TurnRequest, events: TurnEvents): Promise<TurnOutcome> {
    const { settings } = this.#parts.options;
    const refusal = this.#refusal(request);
    if (refusal !== null) return refusal;
    const work: GroupTurn = {
      parts: {
        request,
        events,
        toolNames: new Set(request.tools.map((tool) => tool.name)),
      },
      frame: {
        type: 'turn',
        id: request.id,
        session: request.session,
        system: request.system,
        ...(request.notes ? { notes: request.notes } : {}),
        sections: { ...request.sections },
        prompt: request.prompt,
        pictures: [...(request.pictures ?? [])],
        earlier: (request.earlier ?? []).map((call) => ({ ...call, input: { ...call.input } })),
        model: modelOf(request, settings),
        tools: request.tools.map((tool) => ({ ...tool, inputSchema: { ...tool.inputSchema } })),
        maxRounds: numberOf(settings.toolRounds, request.folder),
        ...(settings.summarize ? {} : { summarizes: false }),
        shellTimeoutMs: settings.shellTimeoutMs,
        ...guardedOf(request),
        ...withoutOf(request),
      },
      limits: { timeoutMs: settings.turnTimeoutMs, idleMs: settings.idleMs },
    };
    return request.isBeside === true
      ? await this.#runBeside(request, work)
      : await this.#group(request).run(work);
  }

  async stop(folder: string, turn?: string): Promise<void> {
    const beside = this.#beside.get(folder);
    const own = turn === undefined ? undefined : beside?.get(turn);
    if (own !== undefined) return await own.stop();
    const all = turn === undefined ? [...(beside?.values() ?? [])] : [];
    await Promise.all([this.#groups.get(folder), ...all].map((group) => group?.stop()));
  }

  async startProgram(spec: ProgramSpec): Promise<Program> {
    const { engine, options, user } = this.#parts;
    if (this.#isClosed) throw new Error('The assistant is shutting down.');
    if (engine.startProgram === undefined) {
      throw new Error(`${engine.name} runs agents, and no other programs.`);
    }
    if (!FOLDER_NAME.test(spec.name)) throw new Error(`"${spec.name}" cannot name a program.`);
    const { name, command, environment, hasNetwork } = spec;
    const program = await engine.startProgram({
      name,
      command,
      environment,
      hasNetwork,
      mounts: await programMounts(spec, options, user),
      limits: DEFAULT_LIMITS,
    });
    this.#programs.add(program);
    void program.ended.then(() => this.#programs.delete(program));
    // It was closed while the engine worked, and stops no more programs.
    if (this.#isClosed) await program.stop();
    return program;
  }

  warm(): number {
    return this.#containers().filter((group) => group.isWarm).length;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([
      ...this.#containers().map((group) => group.close()),
      ...[...this.#programs].map((program) => program.stop()),
    ]);
    await this.#others.close();
    await removePrivateFolder(this.#parts.options.settings.dataDir);
  }

  #refusal({ folder, models: [model] }: TurnRequest): TurnOutcome | null {
    const problem = unaskable(model);
    if (problem !== null) return { kind: 'failed', ...problem };
    if (this.#isClosed) return SHUTTING_DOWN;
    if (!FOLDER_NAME.test(folder) || folder === 'global') {
      return noEngine(`"${folder}" cannot be the folder of a group.`);
    }
    return null;
  }

  #containers(): readonly GroupContainer[] {
    const beside = [...this.#beside.values()].flatMap((turns) => [...turns.values()]);
    return [...this.#groups.values(), ...beside];
  }

  #group(request: TurnRequest): GroupContainer {
    const { folder } = request;
    const group = this.#groups.get(folder) ?? this.#container(request, folder);
    this.#groups.set(folder, group);
    return group;
  }

  /** @param name tells the group's containers apart */
  #container({ folder, isMain }: TurnRequest, name: string): GroupContainer {
    const { elapsed } = this.#parts.options;
    // A turn beside others shares the home's files with them.
    const isBeside = name !== folder;
    const engineFor = (present: string | null) =>
      isBeside ? this.#parts.engine : this.#others.engineFor(folder, present);
    return new GroupContainer({
      startAgent: () => this.#startAgent({ folder, isMain, name }, engineFor(null)),
      isMisplaced: ({ machine }) => (engineFor(machine).machine ?? null) !== machine,
      elapsed,
    });
  }

  /** Such a turn has the group's folders and none of its time. */
  async #runBeside(request: TurnRequest, work: GroupTurn): Promise<TurnOutcome> {
    const { folder, id } = request;
    const turns = this.#beside.get(folder) ?? new Map<string, GroupContainer>();
    const container = this.#container(request, `${folder}\0${id}`);
    this.#beside.set(folder, turns.set(id, container));
    try {
      return await container.run(work);
    } finally {
      turns.delete(id);
      await container.close();
    }
  }

  #makeRoom(folder: string): void {
    const { maxAgents, maxContainers } = this.#parts.options.settings;
    const others = [...this.#groups].filter(([name]) => name !== folder).map(([, group]) => group);
    // A container that runs a turn is never taken away.
    const limit = Math.max(maxAgents, maxContainers);
    for (const group of groupsToRetire(others, limit)) group.retire();
  }

  /** The folders of a group that its agent writes to. */
  #places(folder: string): Pick<GroupPlaces, 'projectDir' | 'dataDir' | 'folder'> {
    const { projectDir, settings } = this.#parts.options;
    return { projectDir, dataDir: settings.dataDir, folder };
  }

  async #startAgent({ folder, isMain, name }: Started, engine: Engine): Promise<WarmAgent> {
    const { options, user, bundle } = this.#parts;
    const { projectDir, settings, homeDir } = options;
    const { dataDir } = settings;
    this.#makeRoom(folder);
    const socketDir = await makeSocketFolder({
      dataDir,
      folder: name,
      socketDir: settings.socketDir,
      user,
    });
    const places: GroupPlaces = {
      ...this.#places(folder),
      isMain,
      socketDir,
      bundle,
      bundleFiles: await readdir(bundle),
    };
    await giveFolders(places, user);
    const { mountsFile } = settings;
    const extra = await extraMounts({ mountsFile, homeDir, projectDir, dataDir, folder });
    for (const refusal of extra.refusals) options.onProgress(refusal);
    return await WarmAgent.start({
      engine,
      folder,
      mounts: [
        ...groupMounts(places, await plainEntries(projectDir)),
        ...(await sharedMounts(projectDir)),
        ...extra.mounts,
      ],
      socketDir,
      user,
      modelTimeoutMs: options.modelTimeoutMs ?? DEFAULT_MODEL_TIMEOUT_MS,
      timeZone: options.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    });
  }
}

/** Returns the groups that give up their containers so that one more can start: those that idle longest. */
function groupsToRetire(
  others: readonly GroupContainer[],
  maxContainers: number,
): readonly GroupContainer[] {
  const warm = others.filter((group) => group.isWarm);
  const surplus = warm.length + 1 - maxContainers;
  return warm
    .flatMap((group) => (group.idleSince === null ? [] : [{ group, since: group.idleSince }]))
    .sort((one, other) => one.since - other.since)
    .slice(0, Math.max(0, surplus))
    .map(({ group }) => group);
}

/** A container to start; its name is the folder's, but for one beside it. */
type Started = Pick<TurnRequest, 'folder' | 'isMain'> & { readonly name: string };

/** Returns what the agent knows of its models. A conversation has to fit any of them. */
function modelOf(
  { models, sideModels, folder }: TurnRequest,
  { modelMaxTokens, modelTemperature }: SandboxOptions['settings'],
): TurnFrame['model'] {
  // A summary keeps the limit of its model: a short one would lose what was said.
  const answerTokens = numberOf(modelMaxTokens, folder);
  const own = answerTokens === null ? {} : { answerTokens };
  const [first, ...next] = runsOf(models).map((run) => ({ ...run, ...own })) as [
    ProtocolRun,
    ...ProtocolRun[],
  ];
  const temperature = numberOf(modelTemperature, folder);
  const { summary, subagent } = sideModels ?? {};
  return {
    ...first,
    ...(next.length === 0 ? {} : { next }),
    ...(temperature === null ? {} : { temperature }),
    side: {
      ...(summary && { summary: [...runsOf(summary)] }),
      ...(subagent && { subagent: [...runsOf(subagent)] }),
    },
    contextTokens: Math.min(...models.map(({ contextTokens }) => contextTokens)),
    // One that cannot is asked without them.
    callsTools: models.some(({ abilities }) => abilities.tools),
    seesPictures: models[0].abilities.vision,
  };
}

/** A program's own folders, and what the owner's list shares with it by its name there. */
async function programMounts(
  { sharedAs, filesDir, homeDir: ownHome }: ProgramSpec,
  { projectDir, homeDir, settings, onProgress }: SandboxOptions,
  user: AgentUser,
): Promise<readonly Mount[]> {
  await giveFolder(ownHome, user);
  const mounts = [{ source: ownHome, target: '/home/node', isWritable: true }];
  // Not given away: it may be the owner's own, and is only read.
  if (filesDir !== null)
    mounts.push({ source: filesDir, target: '/opt/program', isWritable: false });
  const { mountsFile, dataDir } = settings;
  const places = { mountsFile, homeDir, projectDir, dataDir };
  const extra = await extraMounts({ ...places, folder: sharedAs });
  for (const refusal of extra.refusals) onProgress(refusal);
  return [...mounts, ...extra.mounts];
}

async function giveFolders(places: GroupPlaces, user: AgentUser): Promise<void> {
  const { group, session } = writableFolders(places);
  await giveFolder(group, user);
  await giveFolder(session, user);
  await mkdir(mediaFolder(places.dataDir, places.folder), { recursive: true });
  const shared = join(places.projectDir, 'groups/global');
  // The user of the containers has to be able to read what the owner puts there; main's container does not run yet.
  if (places.isMain) await giveFolder(shared, user);
  else await mkdir(shared, { recursive: true });
}

/** Links at the top of the project are left out: where they lead is not for an agent to see. So are names that are no UTF-8. */
async function plainEntries(projectDir: string): Promise<ReadonlySet<string>> {
  const present = new Set<string>();
  for (const name of await readdir(projectDir)) {
    const found = await lstat(join(projectDir, name)).catch(() => null);
    if (found?.isFile() || found?.isDirectory()) present.add(name);
  }
  return present;
}

function noEngine(message: string): TurnOutcome {
  return { kind: 'failed', code: 'NO_ENGINE', message };
}

function withoutOf({ ownToolsOff = [] }: TurnRequest): Pick<TurnFrame, 'without'> {
  return ownToolsOff.length === 0 ? {} : { without: [...ownToolsOff] };
}

function guardedOf({ guardedOwnTools = [] }: TurnRequest): Pick<TurnFrame, 'guarded'> {
  if (guardedOwnTools === 'all') return { guarded: 'all' };
  return guardedOwnTools.length === 0 ? {} : { guarded: [...guardedOwnTools] };
}
