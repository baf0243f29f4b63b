import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { z } from 'zod';
import { endText, Fleet, type InstanceLook, type UpgradeReport } from '../lib/fleet/fleet.ts';
import { FleetBook, FleetRefused } from '../lib/fleet/fleet-book.ts';
import type { UpgradeEnd } from '../lib/fleet/upgrade.ts';
import { defineVerb, type VerbCall, type VerbContext, type VerbEnd, VerbError } from '../verb.ts';

const MINUTE_MS = 60_000;
/** A service that wakes somebody holds the lock for as long as that takes. */
const PATIENCE_MS = 300_000;

type Context = VerbContext & { readonly settings: { readonly FLEET_MEMORY: string } };

/** Looks after the instances of many owners on this machine. */
export const verb = defineVerb({
  name: 'fleet',
  help: 'run one Patchclaw for each of many owners on this machine',
  usage: {
    argument: '[action...]',
    help: 'list; add <name>; upgrade, backup [names]; stop, wake or remove <name>',
  },
  options: [
    { flags: '--env <file>', help: 'add: the settings of the new instance, which become its .env' },
    { flags: '--idle <minutes>', help: 'add: stop it after so long without anything to do' },
    { flags: '--canary <n>', help: 'upgrade: try so many instances first (default: 1)' },
    {
      flags: '--watch <minutes>',
      help: 'upgrade: watch them so long before the others (default: 2)',
    },
    { flags: '--until-asked', help: 'stop: a request to its door or a task starts it again' },
    {
      flags: '--delete-data',
      help: 'remove: delete its volume, with everything that its owner has',
    },
  ],
  settings: z.object({
    FLEET_MEMORY: z
      .string()
      .regex(/^\d+[mg]$/, 'must be like 2g')
      .default('2g'),
  }),
  create: (context) => (call) =>
    run(context, call).catch((error: unknown) => {
      if (error instanceof FleetRefused) throw new VerbError('failed', error.message);
      throw error;
    }),
});

async function run(context: Context, call: VerbCall): Promise<VerbEnd> {
  const [word = 'list', ...names] = call.words;
  const book = new FleetBook(context.dataDir);
  const fleet = new Fleet({
    book,
    memory: context.settings.FLEET_MEMORY,
    projectDir: context.projectDir,
    now: context.now,
    signal: call.signal,
    progress: call.progress,
  });
  const isList = word === 'list' && names.length === 0;
  if (isList && (await book.interrupted()) === null) return listEnd(await fleet.list());
  const work = isList ? LIST : WORK[word];
  if (work === undefined) {
    throw new VerbError(
      'usage',
      'Say list, add, upgrade, backup, stop, wake or remove: `npx claw fleet add mira`.',
    );
  }
  const settle = async () => {
    const interrupted = await fleet.settle();
    if (interrupted !== null) call.progress(interrupted);
    return interrupted;
  };
  if (word === 'upgrade') {
    await book.exclusively(PATIENCE_MS, settle);
    return await upgrade({ fleet, call, names });
  }
  return await book.exclusively(PATIENCE_MS, async () => {
    const interrupted = await settle();
    return await work({ fleet, book, call, names, interrupted });
  });
}

type Call = {
  readonly fleet: Fleet;
  readonly book: FleetBook;
  readonly call: VerbCall;
  readonly names: readonly string[];
  /** What an upgrade that was killed has left, in words. */
  readonly interrupted: string | null;
};

const LIST = async ({ fleet, interrupted }: Call): Promise<VerbEnd> =>
  listEnd(await fleet.list(), interrupted);

const WORK: Readonly<Record<string, (call: Call) => Promise<VerbEnd>>> = {
  async add({ fleet, call, names }) {
    const name = only(names);
    const { env, idle } = call.options;
    const environment = env === undefined ? '' : await readFile(resolve(String(env)), 'utf8');
    const idleMinutes = idle === undefined ? null : number(call, 'idle', 0, 10_080);
    await fleet.add(name, { environment, idleMinutes });
    const container = fleet.containers.nameOf(name);
    return {
      data: { name, container },
      lines: [
        `${name} runs. Its owner talks to it, and sets it up, inside its container:`,
        `  docker exec -it ${container} node /opt/patchclaw/instance.mjs claw chat`,
        `  docker exec -it ${container} node /opt/patchclaw/instance.mjs claw setup`,
      ],
    };
  },
  upgrade,
  async backup({ fleet, book, call, names }) {
    const wanted = names.length > 0 ? names : book.read().instances.map(({ name }) => name);
    const files: Record<string, string> = {};
    for (const name of wanted) {
      call.progress(`${name}: saving`);
      files[name] = await fleet.backup(name);
    }
    return { data: { files }, lines: Object.entries(files).map((pair) => pair.join(': ')) };
  },
  async stop({ fleet, call, names }) {
    const name = only(names);
    const sleeps = call.options['untilAsked'] === true;
    await fleet.stop(name, sleeps ? 'asleep' : 'stopped');
    const until = sleeps ? 'until somebody knocks at its door, a task of its is due, or' : 'until';
    return { data: { name }, lines: [`${name} is stopped ${until}: npx claw fleet wake ${name}`] };
  },
  async wake({ fleet, names }) {
    const name = only(names);
    await fleet.wake(name);
    return { data: { name }, lines: [`${name} runs.`] };
  },
  async remove({ fleet, book, call, names }) {
    const name = only(names);
    book.instance(name);
    const withData = call.options['deleteData'] === true;
    if (withData) await consentToDelete(call, name);
    const volumes = await fleet.remove(name, { withData });
    const kept = `Its data stays: docker volume rm ${volumes.join(' ')} deletes it for good.`;
    return {
      data: { name, volumes, isDeleted: withData },
      lines: [`${name} is out of the fleet.`, withData ? 'Its data is deleted.' : kept],
    };
  },
};

/** It takes the lock of the book by itself, since it may watch for hours. */
async function upgrade({
  fleet,
  call,
  names,
}: Omit<Call, 'book' | 'interrupted'>): Promise<VerbEnd> {
  const report = await fleet.upgrade({
    only: names,
    canary: number(call, 'canary', 1, 1_000),
    watchMs: number(call, 'watch', 2, 1_440) * MINUTE_MS,
    patienceMs: PATIENCE_MS,
  });
  const failed = Object.entries(report.ends).filter(([, { kind }]) => kind !== 'upgraded');
  if (failed.length > 0) throw new VerbError('failed', failureText(report, failed));
  return { data: report, lines: upgradeLines(report) };
}

async function consentToDelete(call: VerbCall, name: string): Promise<void> {
  const answer = await call.consent(`Delete everything that the owner of ${name} has, for good?`);
  if (answer === 'yes') return;
  throw new VerbError(
    'declined',
    answer === 'no' ? 'Nothing was changed.' : 'To delete its data without a question, add --yes.',
  );
}

function only(names: readonly string[]): string {
  const [name, ...more] = names;
  if (name === undefined || more.length > 0) {
    throw new VerbError('usage', 'Say one name: `npx claw fleet add mira`.');
  }
  return name;
}

function number(call: VerbCall, option: string, usual: number, most: number): number {
  const given = call.options[option];
  if (given === undefined) return usual;
  const value = Number(given);
  const least = option === 'watch' ? 0 : 1;
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new VerbError('usage', `--${option} must be a whole number from ${least} to ${most}.`);
  }
  return value;
}

function listEnd(instances: readonly InstanceLook[], interrupted: string | null = null): VerbEnd {
  const lines = instances.map(({ name, wish, isUp, version, idleMinutes, container, size }) => {
    const state = wish !== 'running' ? wish : isUp ? 'running' : 'should run, but does not';
    const idle = idleMinutes === null ? '' : `, sleeps after ${idleMinutes} min`;
    const disk = size === null ? '' : `, ${size} of disk`;
    return `${name}  ${state}${idle}${disk}, ${version.image}, container ${container}`;
  });
  const none = ['No instances yet. Add one: npx claw fleet add mira'];
  return { data: { instances, interrupted }, lines: instances.length === 0 ? none : lines };
}

function upgradeLines({ ends, current, image }: UpgradeReport): readonly string[] {
  const names = Object.keys(ends);
  if (names.length === 0) return [`All instances run this code already (${image}).`];
  return [
    `Upgraded to ${image}: ${names.join(', ')}.`,
    ...(current.length === 0 ? [] : [`They had it already: ${current.join(', ')}.`]),
    'The volumes from before are kept until the next upgrade.',
  ];
}

function failureText(
  { ends, left }: UpgradeReport,
  failed: readonly (readonly [string, UpgradeEnd])[],
): string {
  const upgraded = Object.keys(ends).filter((name) => ends[name]?.kind === 'upgraded');
  return [
    ...failed.map(([name, end]) => endText(name, end)),
    ...(upgraded.length === 0 ? [] : [`Upgraded: ${upgraded.join(', ')}.`]),
    ...(left.length === 0 ? [] : [`Left as they were: ${left.join(', ')}.`]),
  ].join(' ');
}
